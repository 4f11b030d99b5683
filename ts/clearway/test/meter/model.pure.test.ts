// SPDX-License-Identifier: MIT OR Apache-2.0

import { describe, expect, it } from "vitest";
import {
  countDroppedFrames,
  expectedDroppedFrames,
  hitchRatio,
  hitchVerdicts,
  lagMean,
  quantile,
  tail,
  waitProbability,
  worstSecond,
} from "../../src/meter/summarize.js";
import fc, { cases } from "../fixtures/fast-check.js";

/** Generates separate stalls in a run, in whole milliseconds, so that a brute-force count is exact. */
const runs = fc
  .array(fc.record({ gap: fc.integer({ min: 0, max: 800 }), length: fc.integer({ min: 1, max: 900 }) }), {
    maxLength: 12,
  })
  .chain((parts) =>
    fc.integer({ min: 1, max: 1500 }).map((rest) => {
      let at = 0;
      const stalls = parts.map(({ gap, length }) => {
        const startMs = at + gap;
        at = startMs + length;
        return { startMs, lengthMs: length };
      });
      return { stalls, lengths: stalls.map((stall) => stall.lengthMs), durationMs: at + rest };
    }),
  );

describe("the wait of a random event", () => {
  it("exceeds x for the part of each stall that lies more than x before its end", () => {
    expect(waitProbability([500], 2000, 0)).toBe(0.25);
    expect(waitProbability([500], 2000, 100)).toBe(0.2);
    expect(waitProbability([500, 100], 2000, 100)).toBe(0.2);
    expect(waitProbability([500], 2000, 500)).toBe(0);
  });

  it("agrees with a brute-force count per millisecond", () => {
    fc.assert(
      fc.property(runs, fc.integer({ min: 0, max: 1000 }), ({ stalls, lengths, durationMs }, overMs) => {
        let over = 0;
        let waited = 0;
        for (let at = 0; at < durationMs; at++) {
          const met = stalls.find((stall) => stall.startMs <= at && at < stall.startMs + stall.lengthMs);
          // A real arrival falls anywhere in this millisecond, and so waits half a millisecond less on average.
          const wait = met ? met.startMs + met.lengthMs - at : 0;
          if (wait > overMs) over++;
          if (wait > 0) waited += wait - 0.5;
        }
        expect(waitProbability(lengths, durationMs, overMs)).toBeCloseTo(over / durationMs, 9);
        expect(lagMean(lengths, durationMs)).toBeCloseTo(waited / durationMs, 9);
      }),
    );
  });

  it("never grows with x", () => {
    fc.assert(
      fc.property(runs, fc.integer({ min: 0, max: 900 }), ({ lengths, durationMs }, overMs) => {
        expect(waitProbability(lengths, durationMs, overMs + 1)).toBeLessThanOrEqual(
          waitProbability(lengths, durationMs, overMs),
        );
      }),
    );
  });

  it("is 0 in a run of no length", () => {
    expect(waitProbability([], 0, 1)).toBe(0);
    expect(lagMean([], 0)).toBe(0);
  });
});

describe("the hitch ratio", () => {
  it("counts the time of stalls beyond a frame, per second of run", () => {
    expect(hitchRatio([110], 2000, 100)).toBe(50);
    expect(hitchRatio([10, 10, 10], 1000, 100)).toBe(0);
  });

  it.each([
    [0, "good", "good"],
    [5, "good", "good"],
    [5.01, "warning", "good"],
    [10, "warning", "good"],
    [10.01, "critical", "fair"],
    [25, "critical", "fair"],
    [25.01, "critical", "poor"],
    [50, "critical", "poor"],
    [50.01, "critical", "critical"],
  ] as const)("of %d ms/s reads %s on the strict scale and %s on the lenient one", (ratio, strict, lenient) => {
    expect(hitchVerdicts(ratio)).toEqual({ strict, lenient });
  });
});

describe("dropped frames", () => {
  it("are estimated from the stalls when no frames are visible", () => {
    expect(expectedDroppedFrames([100], 60)).toBe(5);
    expect(expectedDroppedFrames([16], 60)).toBe(0);
    expect(expectedDroppedFrames([], 60)).toBe(0);
  });

  it("are counted from gaps between real frames, at the display's own rate", () => {
    const at60 = [16.7, 16.6, 16.7, 16.7, 100, 16.6, 16.7];
    expect(countDroppedFrames(at60)).toEqual({ hz: 60, expected: 12, dropped: 5 });
    const at120 = at60.map((gap) => gap / 2);
    expect(countDroppedFrames(at120)).toEqual({ hz: 120, expected: 12, dropped: 5 });
  });

  it("are not estimated from fewer than four gaps", () => {
    expect(countDroppedFrames([16, 16, 16])).toBeUndefined();
  });
});

describe("the worst second", () => {
  it("may begin anywhere, not only on a whole second", () => {
    const stalls = [
      { startMs: 900, lengthMs: 100 },
      { startMs: 1700, lengthMs: 200 },
    ];
    expect(worstSecond(stalls, 3000)).toEqual({ startMs: 900, stalledMs: 300 });
  });

  it("agrees with a brute-force search per millisecond", () => {
    fc.assert(
      fc.property(runs, ({ stalls, durationMs }) => {
        const stalledFrom = (from: number): number =>
          stalls.reduce(
            (sum, { startMs, lengthMs }) =>
              sum + Math.max(0, Math.min(startMs + lengthMs, from + 1000) - Math.max(startMs, from)),
            0,
          );
        let most = 0;
        for (let from = 0; from <= Math.max(0, durationMs - 1000); from++) most = Math.max(most, stalledFrom(from));
        const worst = worstSecond(stalls, durationMs);
        expect(worst.stalledMs).toBeCloseTo(most, 9);
        expect(stalledFrom(worst.startMs)).toBeCloseTo(most, 9);
      }),
      { numRuns: cases(50) },
    );
  });
});

describe("a quantile", () => {
  it("is null when fewer than 20 samples lie beyond it", () => {
    const values = Array.from({ length: 200 }, (_, index) => index + 1);
    expect(quantile(values, 0.9)).toBe(180);
    expect(quantile(values.slice(1), 0.9)).toBeNull();
    expect(tail(values)).toEqual([
      { quantile: 0.5, lengthMs: 100 },
      { quantile: 0.9, lengthMs: 180 },
      { quantile: 0.99, lengthMs: null },
      { quantile: 0.999, lengthMs: null },
    ]);
  });

  it("has at least its share of the samples at or below it", () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: 0, max: 1e4, noNaN: true }), { minLength: 40, maxLength: 400 }),
        (values) => {
          const sorted = [...values].sort((a, b) => a - b);
          const median = quantile(sorted, 0.5);
          expect(median).not.toBeNull();
          expect(sorted.filter((value) => value <= median!).length).toBeGreaterThanOrEqual(sorted.length / 2);
        },
      ),
    );
  });
});
