// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Pool } from "clearway";
import { describe, expect, test } from "vitest";
import { builtUrl, type Plain, plainUrl, reasonOf, testPool, workerMaker } from "../fixtures/pools.js";

const failures: [name: string, make: () => Pool<Plain>][] = [
  ["a module that does not exist", () => testPool<Plain>(builtUrl("missing"))],
  ["a module that throws", () => testPool<Plain>(builtUrl("throws"))],
  ["a module that exposes nothing", () => testPool<Plain>(builtUrl("silent"), { startTimeoutMs: 1_000 })],
  [
    "a factory that throws",
    () =>
      testPool<Plain>(() => {
        throw new RangeError("no worker today");
      }),
  ],
  ["a factory that gives no worker", () => testPool<Plain>((() => ({})) as never)],
];

describe.each(failures)("%s", (_name, make) => {
  test("fails ready() and every call, with a key, with a stream or without, every time", async () => {
    const made = make();
    expect(await reasonOf(made.ready())).toMatchObject({ code: "worker-start-failed" });
    for (let turn = 0; turn < 2; turn++) {
      const answers = await Promise.all([
        reasonOf(made.call.add(1, 2)),
        reasonOf(made.with({ key: "k" }).call.add(1, 2)),
        reasonOf(made.call.numbers(3).next()),
      ]);
      for (const answer of answers) expect(answer).toMatchObject({ code: "worker-start-failed" });
    }
    expect(made.stats()).toMatchObject({ open: 0, queue: { items: 0 } });
    await made.close();
  });
});

test("a factory that recovers is called again for the next call", async () => {
  const newWorker = await workerMaker();
  let broken = true;
  const made = testPool<Plain>(() => {
    if (broken) throw new RangeError("not yet");
    return newWorker(plainUrl);
  });
  expect(await reasonOf(made.call.add(1, 2))).toMatchObject({ code: "worker-start-failed" });
  broken = false;
  expect(await made.call.add(1, 2)).toBe(3);
});

test("an error that prevents a worker's start is in the call's message and its cause", async () => {
  const cause = new RangeError("no worker today");
  const made = testPool<Plain>(() => {
    throw cause;
  });
  const message = expect.stringContaining("could not be started: no worker today");
  expect(await reasonOf(made.call.add(1, 2))).toMatchObject({ message, cause });
});

test("a refusal of expose() is in the call's message, as an error of the worker's module", async () => {
  const { message } = (await reasonOf(testPool<Plain>(builtUrl("exposes-class")).call.add(1, 2))) as Error;
  expect(message).toContain("tasks must be an object of functions, and not of a class");
  expect(message).toMatch(/\(an error of its module\)$/);
});

test("an address without a module is asked about in the call's message", async () => {
  const { message } = (await reasonOf(testPool<Plain>(builtUrl("missing")).call.add(1, 2))) as Error;
  expect(message).toMatch(/\(is the URL right, and does the module call expose\(\)\?\)$/);
});

test("ready() settles when a worker is ready, and ping() returns the worker's clock", async () => {
  const made = testPool<Plain>(plainUrl);
  await made.ready();
  expect(made.stats().workers).toMatchObject({ ready: 1, size: 1 });
  const before = performance.timeOrigin + performance.now();
  const { remoteTimeMs } = await made.ping();
  expect(Math.abs(remoteTimeMs - before)).toBeLessThan(60_000);
});
