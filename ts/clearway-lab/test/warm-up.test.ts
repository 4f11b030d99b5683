// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import { warmUp } from "../src/mechanism/warm-up.js";
import { WarmUpJudge, WINDOWS_WITHOUT_GAIN } from "../src/statistics/warm-up.js";
import fc from "./fast-check.js";

/** After how many windows the judge says that it is warm; undefined: not within them. */
function windowsUntilWarm(windows: readonly number[]): number | undefined {
  const judge = new WarmUpJudge();
  const at = windows.findIndex((perCall) => judge.isWarmAfter(perCall));
  return at < 0 ? undefined : at + 1;
}

const steady = (perCall: number, count: number): number[] => new Array<number>(count).fill(perCall);

describe("a warm-up is over", () => {
  test("when so many windows were no quicker than the best before them", () => {
    expect(windowsUntilWarm(steady(5, 100))).toBe(1 + WINDOWS_WITHOUT_GAIN);
    expect(windowsUntilWarm([90, 40, 12, ...steady(2, 100)])).toBe(4 + WINDOWS_WITHOUT_GAIN);
  });

  test("not on a plateau that is shorter", () => {
    const plateau = steady(12, WINDOWS_WITHOUT_GAIN);
    expect(windowsUntilWarm([...plateau, ...steady(2, 100)])).toBe(plateau.length + 1 + WINDOWS_WITHOUT_GAIN);
  });

  test("not while it creeps on: 1 % a window is a gain of 5 % in time", () => {
    expect(windowsUntilWarm(Array.from({ length: 200 }, (_, window) => 0.99 ** window))).toBeUndefined();
  });

  test("no later for windows that something else made slow, and its best is the quickest but for 5 %", () => {
    const slowdowns = fc.array(fc.double({ min: 1, max: 1000, noNaN: true }), { minLength: 40, maxLength: 40 });
    fc.assert(
      fc.property(slowdowns, (factors) => {
        const windows = [7, ...factors.map((factor) => 7 * factor)];
        expect(windowsUntilWarm(windows)).toBe(1 + WINDOWS_WITHOUT_GAIN);
        const judge = new WarmUpJudge();
        for (const perCall of windows) judge.isWarmAfter(perCall);
        expect(judge.best).toBeLessThanOrEqual(Math.min(...windows) / 0.95);
      }),
    );
  });
});

describe("warming up", () => {
  /** Calls that take what `msOf` says, by a clock that only they move. */
  function calls(msOf: (call: number) => number) {
    let now = 1000;
    let made = 0;
    const call = async (): Promise<void> => {
      now += msOf(made++);
    };
    return { call, clock: () => now, made: () => made };
  }

  test("ends by itself, with the time of a warm call", async () => {
    const { call, clock } = calls((at) => (at < 1000 ? 0.1 : 0.002));
    const found = await warmUp(call, 5000, { clock });
    expect(found.warm).toBe(true);
    expect(found.perCallMs).toBeCloseTo(0.002, 4);
    expect(found.ms).toBeLessThan(100 + 20 * (WINDOWS_WITHOUT_GAIN + 3));
  });

  test("ends with its time where it gets quicker until then, and says so", async () => {
    const { call, clock } = calls((at) => 10 * 0.99 ** at);
    const found = await warmUp(call, 600, { clock });
    expect(found).toMatchObject({ warm: false });
    expect(found.ms).toBeGreaterThanOrEqual(600);
    expect(found.ms).toBeLessThan(640);
  });

  test("makes one call at least, however long it takes", async () => {
    const { call, clock, made } = calls(() => 10_000);
    expect(await warmUp(call, 100, { clock })).toEqual({ ms: 10_000, perCallMs: 10_000, warm: false });
    expect(made()).toBe(1);
  });

  test("fails as a call does", async () => {
    await expect(warmUp(() => Promise.reject(new Error("answered wrongly")), 100)).rejects.toThrow("answered wrongly");
  });
});
