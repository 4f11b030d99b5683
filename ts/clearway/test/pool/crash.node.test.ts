// SPDX-License-Identifier: MIT OR Apache-2.0
import { getEventListeners } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import { builtUrl, plainPool, reasonOf, testPool } from "../fixtures/pools.js";

type Crash = typeof import("../fixtures/crash.tasks.js");

// A worker in a browser survives both errors, a worker in Node does not.
test.each(["stray", "strayRejection"] as const)("%s: an uncaught error fails the call with its cause", async (task) => {
  const pool = testPool<Crash>(builtUrl("crash"));
  const reason = (await reasonOf(pool.call[task]())) as Error & { code: string };
  expect(reason).toMatchObject({ code: "worker-crashed" });
  expect(reason.message).toContain("stray");
  expect(reason.cause).toMatchObject({ message: "stray" });
  expect(await pool.call.runs()).toBe(1);
});

type Worn = typeof import("../fixtures/worn.tasks.js");

// Browsers do not tell a worker the size of its heap.
test("recycling replaces a worker whose heap has reached heapMb", async () => {
  // Smaller than any heap.
  const pool = testPool<Worn>(builtUrl("worn"), { recycle: { heapMb: 1 } });
  const first = await pool.call.who();
  // A worker reports the size of its heap at most ten times a second.
  await expect.poll(() => pool.call.who()).not.toBe(first);
  expect(pool.stats().workers.restarts).toBe(0);
});

test("hundreds of calls with one signal cause no warning, and leave no listener", async () => {
  const warnings: Error[] = [];
  const warned = (warning: Error): void => void warnings.push(warning);
  process.on("warning", warned);
  onTestFinished(() => void process.off("warning", warned));
  const { signal } = new AbortController();
  const { call } = plainPool().with({ signal });
  const calls = Array.from({ length: 200 }, (_, at) => call.add(at));
  expect(getEventListeners(signal, "abort")).toHaveLength(1);
  await Promise.all(calls);
  // Warnings are emitted in a later turn.
  await new Promise((resolve) => setImmediate(resolve));
  expect(warnings.filter(({ name }) => name === "MaxListenersExceededWarning")).toEqual([]);
  expect(getEventListeners(signal, "abort")).toEqual([]);
});

test("an abort ends all calls with its signal, also those that are made during the abort", async () => {
  const controller = new AbortController();
  const { signal } = controller;
  const pool = plainPool();
  const { call } = pool.with({ signal });
  const calls = Array.from({ length: 20 }, () => call.never());
  const late: Promise<unknown>[] = [];
  signal.addEventListener("abort", () => late.push(call.add(1)));
  controller.abort("enough");
  const ends = await Promise.allSettled([...calls, ...late]);
  expect(ends).toHaveLength(21);
  for (const end of ends) expect(end).toEqual({ status: "rejected", reason: "enough" });
  expect(getEventListeners(signal, "abort")).toHaveLength(1);
  expect(await pool.call.add(1, 2)).toBe(3);
});
