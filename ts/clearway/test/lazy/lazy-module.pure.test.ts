// SPDX-License-Identifier: MIT OR Apache-2.0
import { beforeEach, expect, test, vi } from "vitest";
import { lazyModule, preload, timeLimit } from "../../src/lazy/lazy.js";
import { useFakeTimers } from "../fixtures/fake-timers.js";

beforeEach(() => useFakeTimers());

test("a lazy module is loaded once for all concurrent callers", async () => {
  let loads = 0;
  const load = lazyModule(async () => ++loads);
  expect(await Promise.all([load(), load()])).toEqual([1, 1]);
  expect(await load()).toBe(1);
  expect(vi.getTimerCount()).toBe(0);
});

test("a lazy module that does not load in time fails the waiting callers, and the next caller loads it again", async () => {
  const come: ((exports: string) => void)[] = [];
  const load = lazyModule(() => new Promise<string>((resolve) => come.push(resolve)));
  const waiting = Promise.allSettled([load(), load()]);
  await vi.advanceTimersByTimeAsync(30_000);
  for (const each of await waiting) {
    expect(each).toMatchObject({ status: "rejected", reason: { message: "it was not loaded within 30000 ms" } });
  }
  const again = load();
  come[1]?.("here");
  expect(await again).toBe("here");
  await vi.advanceTimersByTimeAsync(0);
  expect(vi.getTimerCount()).toBe(0);
});

test("a lazy module's owner converts the error of a failed load", async () => {
  const load = lazyModule(
    () => Promise.reject(new TypeError("offline")),
    (cause) => new Error("no ring", { cause }),
  );
  await expect(load()).rejects.toMatchObject({ message: "no ring", cause: { message: "offline" } });
});

test("a preloaded module reports no error when its load fails", async () => {
  let loads = 0;
  const load = lazyModule(async () => {
    if (++loads === 1) throw new TypeError("offline");
    return loads;
  });
  preload(load);
  await vi.advanceTimersByTimeAsync(0);
  expect(await load()).toBe(2);
});

test("a deadline of Infinity starts no timer; one of 30 days does not fire before", async () => {
  const fired: number[] = [];
  const dayMs = 24 * 3_600_000;
  for (const ms of [Number.POSITIVE_INFINITY, 30 * dayMs]) timeLimit(ms, () => fired.push(ms));
  expect(vi.getTimerCount()).toBe(0);
  // `timeLimit` acts after the messages that wait, which no fake timer delivers.
  const acted = new Promise<void>((resolve) => {
    timeLimit(20 * dayMs, () => {
      fired.push(20);
      resolve();
    });
  });
  await vi.advanceTimersByTimeAsync(30 * dayMs - 1);
  await acted;
  expect(fired).toEqual([20]);
});
