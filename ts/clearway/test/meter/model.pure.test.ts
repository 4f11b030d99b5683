// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, it } from "vitest";
import vectors from "../../../../spec/vectors/meter.json" with { type: "json" };
import { scaleReport } from "../../src/meter/device.js";
import type { Stall, StallReport } from "../../src/meter/report.js";
import {
  countDroppedFrames,
  expectedDroppedFrames,
  hitchRatio,
  hitchVerdicts,
  lagMean,
  quantile,
  type RunFacts,
  summarize,
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

// Reports in another device's time.
function stall(startMs: number, lengthMs: number): Stall {
  return {
    startMs,
    lengthMs,
    errorMs: 1,
    cause: "app",
    because: "the app ran",
    machineMs: 2,
    gcMs: 3,
    scripts: [{ url: "a.js", functionName: "f", invoker: "", durationMs: 5, layoutMs: 1 }],
    stacks: [],
    marks: [{ label: "parse", overlapMs: 4 }],
  };
}

const report = (stalls: Stall[], facts: Partial<RunFacts> = {}): StallReport =>
  summarize({
    host: "browser",
    label: "import",
    startedAt: "2026-01-01T00:00:00Z",
    durationMs: 1000,
    coveredFromMs: 0,
    hiddenMs: 0,
    hz: 60,
    floorMs: 4,
    stalls,
    droppedStalls: 0,
    frames: undefined,
    sources: [],
    ...facts,
  });

describe("scaleReport()", () => {
  it("makes stalls longer, and keeps the time between them", () => {
    const scaled = scaleReport(report([stall(100, 12), stall(500, 20)]), 3);
    expect(scaled.stalls.map(({ startMs, lengthMs }) => [startMs, lengthMs])).toEqual([
      [100, 36],
      [524, 60],
    ]);
    expect(scaled).toMatchObject({
      durationMs: 1064,
      stalledMs: 96,
      longestMs: 60,
      floorMs: 12,
      label: "import (x 3.00)",
    });
    expect(scaled.stalls[0]).toMatchObject({ errorMs: 3, machineMs: 6, gcMs: 9 });
    expect(scaled.stalls[0]!.scripts[0]).toMatchObject({ durationMs: 15, layoutMs: 3 });
    expect(scaled.stalls[0]!.marks).toEqual([{ label: "parse", overlapMs: 12 }]);
  });

  it("computes hitches and frames of the longer stalls", () => {
    const scaled = scaleReport(report([stall(0, 50)], { frames: { hz: 60, expected: 60, dropped: 2 } }), 2);
    expect(scaled.hitch.msPerSecond).toBeCloseTo(((100 - 1000 / 60) / 1050) * 1000, 9);
    expect(scaled.frames).toEqual({ hz: 60, expected: 63, dropped: 5, estimated: true });
  });

  it("converts to a faster device as well", () => {
    const scaled = scaleReport(report([stall(0, 50), stall(50, 50)]), 0.5);
    expect(scaled.stalls.map(({ startMs, lengthMs }) => [startMs, lengthMs])).toEqual([
      [0, 25],
      [25, 25],
    ]);
    expect(scaled.worstSecond).toEqual({ startMs: 0, stalledMs: 50 });
  });

  it("finds the worst second after the dropped stalls", () => {
    const scaled = scaleReport(report([stall(5000, 50)], { droppedStalls: 7, coveredFromMs: 4500 }), 2);
    expect(scaled.worstSecond.startMs).toBeGreaterThanOrEqual(5000);
    expect(scaled.worstSecond.stalledMs).toBe(100);
  });

  it.each(vectors.reports)("with a ratio of 1 keeps the figures: $name", ({ run, report: known }) => {
    const facts = { coveredFromMs: 0, label: undefined, frames: undefined, ...run } as unknown as RunFacts;
    const { label: _, ...same } = scaleReport(summarize(facts), 1);
    const { label: __, ...expected } = summarize(facts);
    expect(same).toEqual(expected);
    expect(same.longestMs).toBeCloseTo(known.longestMs, 6);
  });

  it("leaves the report as it is", () => {
    const given = report([stall(0, 50)]);
    const before = structuredClone(given);
    scaleReport(given, 4);
    expect(given).toEqual(before);
  });

  it.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY, 1001, "3" as never, undefined as never])(
    "refuses %s",
    (ratio) => {
      expect(() => scaleReport(report([]), ratio as number)).toThrow(
        new RangeError(`ratio must be over 0, at most 1000: ratio=${ratio}`),
      );
    },
  );
});
