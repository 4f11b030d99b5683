// SPDX-License-Identifier: MIT OR Apache-2.0
import { getEventListeners } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import { plainPool } from "../fixtures/pools.js";

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
