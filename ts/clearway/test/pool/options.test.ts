// SPDX-License-Identifier: MIT OR Apache-2.0
import { type CallOptions, ClearwayError, type PoolOptions, pool } from "clearway";
import { describe, expect, test } from "vitest";
import { plainPool, plainUrl } from "../fixtures/pools.js";

const bad: [shown: string, options: PoolOptions][] = [
  ["size=0", { size: 0 }],
  ["size=1.5", { size: 1.5 }],
  ['size="all"', { size: "all" as never }],
  ["size.min=-1", { size: { min: -1 } }],
  ["size.max=0", { size: { max: 0 } }],
  ["size.min=3", { size: { min: 3, max: 2 } }],
  ["size.idleMs=-1", { size: { idleMs: -1 } }],
  ["concurrency=0", { concurrency: 0 }],
  ["queue.items=0", { queue: { items: 0 } }],
  ["queue.bytes=NaN", { queue: { bytes: Number.NaN } }],
  ['queue.whenFull="block"', { queue: { whenFull: "block" as never } }],
  ["window.items=0", { window: { items: 0 } }],
  ["window.items=Infinity", { window: { items: Number.POSITIVE_INFINITY } }],
  ["window.bytes=0", { window: { bytes: 0 } }],
  ["graceMs=-1", { graceMs: -1 }],
  ["startTimeoutMs=0", { startTimeoutMs: 0 }],
  ["recycle.tasks=0", { recycle: { tasks: 0 } }],
  ["recycle.ageMs=0", { recycle: { ageMs: 0 } }],
  ["recycle.heapMb=0", { recycle: { heapMb: 0 } }],
];

const badCalls: [shown: string, options: CallOptions][] = [
  ["timeoutMs=-1", { timeoutMs: -1 }],
  ["deadlineMs=NaN", { deadlineMs: Number.NaN }],
  ["retries=-1", { retries: -1 }],
  ["priority=Infinity", { priority: Number.POSITIVE_INFINITY }],
  ["signal=5", { signal: 5 as never }],
  ["window.items=0", { window: { items: 0 } }],
];

function thrownBy(act: () => unknown): ClearwayError {
  try {
    act();
  } catch (reason) {
    return reason as ClearwayError;
  }
  throw new Error("it did not throw");
}

describe("an option out of its range", () => {
  test.each(bad)("of a pool is named with its value: %s", (shown, options) => {
    const reason = thrownBy(() => pool(plainUrl, options));
    expect(reason).toBeInstanceOf(ClearwayError);
    expect(reason.code).toBe("invalid-argument");
    expect(reason.message).toContain(shown);
  });

  test.each(badCalls)("of a call is named with its value: %s", (shown, options) => {
    const made = plainPool();
    const reason = thrownBy(() => made.with(options));
    expect(reason.code).toBe("invalid-argument");
    expect(reason.message).toContain(shown);
  });
});

test("options at their bounds are taken", async () => {
  const made = plainPool({
    size: { min: 0, max: "cpu", idleMs: Number.POSITIVE_INFINITY },
    queue: { items: Number.POSITIVE_INFINITY, bytes: Number.POSITIVE_INFINITY },
    window: { items: 1, bytes: 1 },
    graceMs: 0,
  });
  expect(made.stats().workers.size).toBe(0);
  expect(await made.with({ timeoutMs: Number.POSITIVE_INFINITY, priority: -5 }).call.add(1, 2)).toBe(3);
});
