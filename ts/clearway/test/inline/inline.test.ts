// SPDX-License-Identifier: MIT OR Apache-2.0
import { type ClearwayError, type PoolOptions, pool } from "clearway";
import { expect, test } from "vitest";
import { gate, reasonOf, testPool } from "../fixtures/pools.js";
import { type Placed, placedPool, placedUrl } from "./placing.js";

test("nothing runs inline by default", async () => {
  const { where } = testPool<Placed>(placedUrl).call;
  expect([await where(), await where()]).toEqual(["worker", "worker"]);
});

test("a task with placement inline runs inline once the module is loaded, and a call can override it", async () => {
  const made = testPool<Placed>(placedUrl);
  while ((await made.call.whereInline()) !== "caller");
  expect(await made.with({ placement: "worker" }).call.whereInline()).toBe("worker");
  expect(await made.call.where()).toBe("worker");
});

test("tasks with resources stay in workers", async () => {
  const made = await placedPool("inline");
  expect(await made.call.whereLeased()).toBe("worker 5");
  expect(await made.call.whereLeasedInline()).toBe("worker");
});

test("a task with placement worker stays there, whatever the call asks for", async () => {
  const made = await placedPool("inline");
  expect(await made.call.whereNever()).toBe("worker");
});

test("streams stay in workers", async () => {
  const made = await placedPool("inline");
  for await (const where of made.call.numbers()) expect(where).toBe("worker");
});

test("calls that can be cancelled, have a key or report progress go to workers", async () => {
  const made = await placedPool("inline");
  const { signal } = new AbortController();
  for (const options of [
    { signal },
    { timeoutMs: 1000 },
    { deadlineMs: 1000 },
    { key: "a" },
    { onProgress: () => {} },
  ]) {
    expect(await made.with({ placement: "inline", ...options }).call.where()).toBe("worker");
  }
  const aborted = made.with({ placement: "inline", signal: AbortSignal.abort(new RangeError("gone")) });
  expect(await reasonOf(aborted.call.where())).toBeInstanceOf(RangeError);
});

test("a call with a stream argument goes to a worker, which reads the stream", async () => {
  const made = await placedPool("inline");
  async function* values() {
    yield 1;
  }
  await made.call.keep(values());
  expect(made.stats().tasks["keep"]?.inline).toBe(0);
});

/** Makes calls until the pool has settled that its module cannot be loaded. */
async function notesOf(options: PoolOptions) {
  const made = testPool<Placed>(placedUrl, options);
  const { call } = made.with({ placement: "inline" });
  for (let turn = 0; turn < 3; turn++) expect(await call.where()).toBe("worker");
  return (await made.advise()).text;
}

test.each([
  ["that the caller cannot load", "no such chunk", () => Promise.reject(new Error("no such chunk"))],
  ["without tasks", "exports no tasks", async () => ({})],
])("a module %s fails no call, and the advice says why", async (_what, why, module) => {
  expect(await notesOf({ module })).toContain(why);
});

test("the module is loaded once, and only when a call may run inline, even if its loader makes calls itself", async () => {
  let asked = 0;
  const loading = gate<unknown>();
  const made = testPool<Placed>(placedUrl, {
    module: () => {
      asked++;
      void call.where();
      return loading.promise;
    },
  });
  const { call } = made.with({ placement: "inline" });
  await made.call.where();
  await made.call.where();
  expect(asked).toBe(0);
  expect(await Promise.all([call.where(), call.where()])).toEqual(["worker", "worker"]);
  loading.tell(await import(/* @vite-ignore */ placedUrl.href));
  while ((await call.where()) !== "caller");
  expect(asked).toBe(1);
});

test("terminate() does not wait for a module that never loads", async () => {
  const asked = gate();
  const made = testPool<Placed>(placedUrl, {
    module: () => {
      asked.tell();
      return new Promise(() => {});
    },
  });
  const { call } = made.with({ placement: "inline" });
  await made.ready();
  expect(await call.where()).toBe("worker");
  await asked.promise;
  const waiting = reasonOf(call.never());
  await made.terminate();
  expect(await waiting).toMatchObject({ code: "pool-terminated" });
});

test("an invalid placement is refused with its value", () => {
  const thrownBy = (act: () => unknown) => {
    try {
      act();
    } catch (reason) {
      return reason as ClearwayError;
    }
    throw new Error("it did not throw");
  };
  const made = testPool<Placed>(placedUrl);
  for (const placement of ["here", "auto"]) {
    const refused = thrownBy(() => made.with({ placement: placement as never }));
    expect(refused).toMatchObject({
      code: "invalid-argument",
      message: expect.stringContaining(`placement="${placement}"`),
    });
  }
  expect(thrownBy(() => pool(placedUrl, { placement: "inline" } as never)).code).toBe("invalid-argument");
});
