// SPDX-License-Identifier: MIT OR Apache-2.0

import { describe, expect, test } from "vitest";
import { warmedBatch } from "../src/codec/measure.js";
import { WarmUpDetector, WINDOWS_WITHOUT_GAIN, warmUp } from "../src/statistics/warm-up.js";
import fc from "./fast-check.js";

/** Returns the number of windows after which `WarmUpDetector` reports a warm state. Returns undefined if it never does. */
function windowsUntilWarm(windows: readonly number[]): number | undefined {
  const detector = new WarmUpDetector();
  const at = windows.findIndex((perCall) => detector.isWarmAfter(perCall));
  return at < 0 ? undefined : at + 1;
}

const steady = (perCall: number, count: number): number[] => new Array<number>(count).fill(perCall);

describe("the detector of a warm-up", () => {
  test("reports warm after WINDOWS_WITHOUT_GAIN windows that were not faster than the best before them", () => {
    expect(windowsUntilWarm(steady(5, 100))).toBe(1 + WINDOWS_WITHOUT_GAIN);
    expect(windowsUntilWarm([90, 40, 12, ...steady(2, 100)])).toBe(4 + WINDOWS_WITHOUT_GAIN);
  });

  test("does not report warm on a shorter plateau", () => {
    const plateau = steady(12, WINDOWS_WITHOUT_GAIN);
    expect(windowsUntilWarm([...plateau, ...steady(2, 100)])).toBe(plateau.length + 1 + WINDOWS_WITHOUT_GAIN);
  });

  test("does not report warm while each window is 1 % faster than the last", () => {
    expect(windowsUntilWarm(Array.from({ length: 200 }, (_, window) => 0.99 ** window))).toBeUndefined();
  });

  test("ignores windows that other work slowed down, and its best is within 5 % of the fastest", () => {
    const slowdowns = fc.array(fc.double({ min: 1, max: 1000, noNaN: true }), { minLength: 40, maxLength: 40 });
    fc.assert(
      fc.property(slowdowns, (factors) => {
        const windows = [7, ...factors.map((factor) => 7 * factor)];
        expect(windowsUntilWarm(windows)).toBe(1 + WINDOWS_WITHOUT_GAIN);
        const detector = new WarmUpDetector();
        for (const perCall of windows) detector.isWarmAfter(perCall);
        expect(detector.best).toBeLessThanOrEqual(Math.min(...windows) / 0.95);
      }),
    );
  });
});

describe("warming up", () => {
  /** Returns calls that take `msOf(call)`, and a clock that only these calls advance. */
  function calls(msOf: (call: number) => number) {
    let now = 1000;
    let made = 0;
    const call = async (): Promise<void> => {
      now += msOf(made++);
    };
    return { call, clock: () => now, made: () => made };
  }

  test("ends when calls are warm, and returns the time of a warm call", async () => {
    const { call, clock } = calls((at) => (at < 1000 ? 0.1 : 0.002));
    const found = await warmUp(call, 5000, clock);
    expect(found.warm).toBe(true);
    expect(found.perCallMs).toBeCloseTo(0.002, 4);
    expect(found.ms).toBeLessThan(100 + 20 * (WINDOWS_WITHOUT_GAIN + 3));
  });

  test("ends at its time limit when calls still get faster, and says so", async () => {
    const { call, clock } = calls((at) => 10 * 0.99 ** at);
    const found = await warmUp(call, 600, clock);
    expect(found).toMatchObject({ warm: false });
    expect(found.ms).toBeGreaterThanOrEqual(600);
    expect(found.ms).toBeLessThan(640);
  });

  test("makes at least one call, however long the call takes", async () => {
    const { call, clock, made } = calls(() => 10_000);
    expect(await warmUp(call, 100, clock)).toEqual({ ms: 10_000, perCallMs: 10_000, warm: false });
    expect(made()).toBe(1);
  });

  test("rejects with the error of a call", async () => {
    await expect(
      warmUp(
        () => Promise.reject(new Error("answered wrongly")),
        100,
        () => 0,
      ),
    ).rejects.toThrow("answered wrongly");
  });
});

describe("warming up a codec", () => {
  /** Returns a timer of calls that take `msOf(call)` each, and counts the calls and the time. */
  function timed(msOf: (call: number) => number) {
    const made = { calls: 0, ms: 0 };
    const timeMs = (calls: number): number => {
      let ms = 0;
      for (let i = 0; i < calls; i++) ms += msOf(made.calls++);
      made.ms += ms;
      return ms;
    };
    return { timeMs, made };
  }

  test("ends when calls stop getting faster, with batches that are long enough for the clock", () => {
    const { timeMs, made } = timed((call) => (call < 8_000 ? 0.004 : 0.001));
    expect(warmedBatch(timeMs)).toEqual({ count: 256 });
    expect(made.calls).toBeGreaterThan(8_000 + 40_000);
    expect(made.ms).toBeLessThan(200);
  });

  test("makes thousands of calls although ten windows are over sooner", () => {
    const { timeMs, made } = timed(() => 0.02);
    expect(warmedBatch(timeMs)).toEqual({ count: 16 });
    expect(made.calls).toBeGreaterThanOrEqual(5000);
  });

  test("ends after 800 ms, and says so only if the calls still became faster", () => {
    expect(warmedBatch(timed(() => 1).timeMs)).toEqual({ count: 1 });
    const faster = warmedBatch(timed((call) => 1 / (1 + call / 100)).timeMs);
    expect(faster.cutMs).toBeGreaterThanOrEqual(800);
  });
});
