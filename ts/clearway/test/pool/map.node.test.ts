// SPDX-License-Identifier: MIT OR Apache-2.0
import { AsyncLocalStorage } from "node:async_hooks";
import { getEventListeners } from "node:events";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { plainPool, reasonOf } from "../fixtures/pools.js";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

test("a mapping leaves no listener on its signal, whether it ends, fails or is left", async () => {
  const pool = plainPool();
  const { signal } = new AbortController();
  const listeners = (): number => getEventListeners(signal, "abort").length;
  expect(await pool.map.add([1, 2], { signal })).toEqual([2, 3]);
  expect(listeners()).toBe(0);
  await reasonOf(pool.map.fail(["no"], { signal }));
  expect(listeners()).toBe(0);
  for await (const _each of pool.with({ signal }).map.add([1, 2, 3])) {
    expect(listeners()).toBe(1);
    break;
  }
  expect(listeners()).toBe(0);
});

test("a mapping without references is ended when it is garbage-collected, and closes its inputs", async () => {
  const pool = plainPool();
  let closed = 0;
  await (async () => {
    const inputs = (function* () {
      try {
        for (;;) yield 1;
      } finally {
        closed++;
      }
    })();
    await pool.map.add(inputs).next();
  })();
  await expect
    .poll(() => {
      collect();
      return closed;
    })
    .toBe(1);
  await expect.poll(() => pool.stats().open).toBe(0);
});

test("a mapping is not ended while a read of it, or its array, is pending", async () => {
  const pool = plainPool();
  const next = (() => pool.map.add([1]).next())();
  const all = (() => pool.map.add([1, 2]).then((results) => results))();
  collect();
  expect((await next).value).toBe(2);
  expect(await all).toEqual([2, 3]);
});

test("the inputs and onResult run in the async context of the first read", async () => {
  const pool = plainPool();
  const storage = new AsyncLocalStorage<string>();
  const seen = new Set<unknown>();
  const inputs = (function* () {
    for (let at = 0; at < 50; at++) {
      seen.add(storage.getStore());
      yield at;
    }
  })();
  const results = pool.map.add(inputs, { concurrency: 2, onResult: () => seen.add(storage.getStore()) });
  await storage.run("first", () => results.next());
  await storage.run("second", () => results.then(() => {}));
  expect([...seen]).toEqual(["first"]);
});
