// SPDX-License-Identifier: MIT OR Apache-2.0
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import { builtUrl, testPool } from "../fixtures/pools.js";

type Streams = typeof import("../fixtures/streams.tasks.js");

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

describe("a stream without references", () => {
  test.each(["warm", "cold"])(
    "is ended when it is garbage-collected, on a %s pool, and its finally block runs",
    async (start) => {
      const pool = testPool<Streams>(builtUrl("streams"), { window: { items: 2 } });
      if (start === "warm") await pool.ready();
      await (async () => {
        const stream = pool.call.count(1000);
        await stream.next();
      })();
      expect(pool.stats().open).toBe(1);
      await expect
        .poll(() => {
          collect();
          return pool.stats().open;
        })
        .toBe(0);
      expect(await pool.call.state()).toMatchObject({ closed: 1 });
      expect(pool.stats().workers.restarts).toBe(0);
    },
  );

  test("is ended, too, when it was dropped before the code that reads it was loaded", async () => {
    const pool = testPool<Streams>(builtUrl("streams"));
    // The pool does not know yet whether the call is a stream.
    (() => pool.call.count(1000))();
    const closed = (async () => (await pool.call.state()).closed)();
    collect();
    expect(await closed).toBe(0);
    expect(pool.stats().open).toBe(0);
  });

  test("is not ended while the reader of its arrays is in use", async () => {
    const pool = testPool<Streams>(builtUrl("streams"), { window: { items: 2 } });
    await pool.ready();
    const batches = (() => pool.call.count(10).batches())();
    const values: number[] = [];
    for (let step = await batches.next(); !step.done; step = await batches.next()) {
      collect();
      values.push(...step.value);
    }
    expect(values).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  test("is not ended while a read of it is pending", async () => {
    const pool = testPool<Streams>(builtUrl("streams"));
    await pool.ready();
    const next = (() => pool.call.count(10).next())();
    collect();
    expect((await next).value).toBe(0);
  });
});
