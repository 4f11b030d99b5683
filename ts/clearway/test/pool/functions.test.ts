// SPDX-License-Identifier: MIT OR Apache-2.0
// A function is not a task: it cannot cross to another thread.
import { type Callable, pool, run } from "clearway";
import { describe, expect, test } from "vitest";
import { type Plain, plainUrl, reasonOf, testPool, workerMaker } from "../fixtures/pools.js";

const refusal = { code: "invalid-argument", message: expect.stringContaining("expose() it in a task module") };

describe.each<[string, (source: never) => unknown]>([
  ["pool()", (source) => pool(source)],
  ["run()", (source) => run(source)],
])("%s refuses", (_name, use) => {
  test.each<[string, unknown]>([
    ["an asynchronous function", async () => 1],
    ["a generator", function* () {}],
    ["an asynchronous generator", async function* () {}],
    ["nothing", undefined],
    ["a number", 5],
    ["an object", {}],
  ])("%s, and says what to do", (_what, source) => {
    expect(() => use(source as never)).toThrow(expect.objectContaining(refusal));
  });
});

test("run() with a function, awaited without a call, says what to do", async () => {
  let ran = 0;
  const closure = (): number => ++ran;
  expect(await reasonOf(run(closure as never) as never)).toMatchObject(refusal);
  expect(ran).toBe(0);
});

test("run() with a factory makes calls as before, and can be kept", async () => {
  const newWorker = await workerMaker();
  const once = run<Plain>(() => newWorker(plainUrl));
  expect(await once.call.add(1, 2)).toBe(3);
  const kept = (async () => ({ once: run<Plain>(() => newWorker(plainUrl)) }))();
  expect(await (await kept).once.call.add(3, 4)).toBe(7);
  const byUrl: Callable<Plain> = await (async () => run<Plain>(plainUrl))();
  expect(await byUrl.call.add(5, 6)).toBe(11);
});

test("a pool whose function returns no worker fails its calls with an error that says what to do", async () => {
  const made = testPool<Plain>((() => 42) as never);
  expect(await reasonOf(made.call.add(1, 2))).toMatchObject({
    code: "worker-start-failed",
    message: expect.stringContaining("expose() it in a task module"),
  });
});
