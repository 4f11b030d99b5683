// SPDX-License-Identifier: MIT OR Apache-2.0
// Distributions, rounds, random orders, stalls, and the published verdict in words.
import { describe, expect, test } from "vitest";
import { type FrameDrops, frameDropsOf } from "../src/isolate/metered.js";
import {
  decodeHistogram,
  distributionOf,
  encodeHistogram,
  histogramOf,
  isSupported,
  mergeHistograms,
  QUANTILES,
  samplesBeyond,
  significant,
} from "../src/statistics/distribution.js";
import { randomFrom, shuffled } from "../src/statistics/random.js";
import { bestByOtherRounds, geometricMean, median, pairedRatios, type Times } from "../src/statistics/rounds.js";
import { droppedFrames, hitchMsPerSecond, jankLine, ms } from "../src/statistics/stalls.js";
import fc from "./fast-check.js";

const nanoseconds = fc.array(fc.integer({ min: 1, max: 10_000_000_000 }), { minLength: 1, maxLength: 300 });

describe("a distribution", () => {
  test("is known to a thousandth, and its quantiles are in order", () => {
    fc.assert(
      fc.property(nanoseconds, (ns) => {
        const histogram = histogramOf(ns);
        const { n, min, p1, p10, p50, p90, p99, p999, max } = distributionOf(histogram, "us");
        const figures = [min, p1, p10, p50, p90, p99, p999, max];
        expect(n).toBe(ns.length);
        expect(figures).toEqual(figures.toSorted((a, b) => a - b));
        const known = [0, ...Object.values(QUANTILES), 1].map((q) => histogram.getValueAtPercentile(q * 100));
        for (const value of known)
          expect(Math.min(...ns.map((each) => Math.abs(value - each) / each))).toBeLessThan(0.001);
        const [least, most] = [Math.min(...ns), Math.max(...ns)];
        expect(Math.abs(known.at(0)! - least) / least).toBeLessThan(0.001);
        expect(Math.abs(known.at(-1)! - most) / most).toBeLessThan(0.001);
        // The report shows four digits.
        expect(figures).toEqual(known.map((value) => significant(value / 1000)));
      }),
    );
  });

  test("stays the same when it is encoded and decoded", () => {
    fc.assert(
      fc.property(nanoseconds, (ns) => {
        const histogram = histogramOf(ns);
        expect(distributionOf(decodeHistogram(encodeHistogram(histogram)), "ms")).toEqual(
          distributionOf(histogram, "ms"),
        );
      }),
    );
  });

  test("merged from two rounds equals that of all their samples", () => {
    fc.assert(
      fc.property(nanoseconds, nanoseconds, (a, b) => {
        const merged = mergeHistograms([histogramOf(a), histogramOf(b)]);
        expect(distributionOf(merged, "us")).toEqual(distributionOf(histogramOf([...a, ...b]), "us"));
      }),
    );
  });

  test("names the quantiles that its sample is too small for", () => {
    expect(distributionOf(histogramOf(Array(1000).fill(5000)), "us").unsupported).toEqual(["p1", "p99", "p999"]);
    expect(distributionOf(histogramOf(Array(2000).fill(5000)), "us").unsupported).toEqual(["p999"]);
    expect(distributionOf(histogramOf(Array(20_000).fill(5000)), "us").unsupported).toBeUndefined();
    expect(distributionOf(histogramOf([5000]), "us").unsupported).toHaveLength(6);
  });

  test("without samples is all zeros and supports no quantile", () => {
    const empty = distributionOf(histogramOf([]), "ms");
    expect(empty).toMatchObject({ n: 0, min: 0, mean: 0, p50: 0, max: 0 });
    expect(empty.unsupported).toHaveLength(6);
  });

  test("counts a negative sample, from a clock that stepped back, as the smallest", () => {
    expect(distributionOf(histogramOf([-300, 0, 1000]), "us").min).toBe(0.001);
  });
});

test("a quantile is supported when at least 20 samples are beyond it", () => {
  for (const q of Object.values(QUANTILES)) {
    const least = Math.ceil(20 / Math.min(q, 1 - q) - 1e-6);
    expect(isSupported(least, q)).toBe(true);
    expect(isSupported(least - 1, q)).toBe(false);
    expect(samplesBeyond(least, q)).toBeGreaterThanOrEqual(20);
  }
  expect(isSupported(20_000, QUANTILES.p999)).toBe(true);
});

describe("a comparison", () => {
  test("pairs rounds by their number and leaves out rounds without a partner", () => {
    const a = new Map([
      [0, 10],
      [2, 30],
    ]);
    const b = new Map([
      [1, 5],
      [2, 10],
      [3, 7],
    ]);
    expect(pairedRatios(a, b)).toEqual([3]);
  });
});

test("the median is the middle value, or the mean of the two middle values", () => {
  expect(median([3, 1, 2])).toBe(2);
  expect(median([4, 1, 2, 3])).toBe(2.5);
  expect(() => median([])).toThrow("median of nothing");
  expect(geometricMean([0.5, 2])).toBeCloseTo(1, 12);
});

test("a shuffle keeps every item and repeats for the same seed", () => {
  fc.assert(
    fc.property(fc.array(fc.integer()), fc.nat(), (items, seed) => {
      const once = shuffled(items, randomFrom(seed));
      expect([...once].sort()).toEqual([...items].sort());
      expect(shuffled(items, randomFrom(seed))).toEqual(once);
    }),
  );
});

test("a stall of 500 ms in 2 s drops 29 frames and counts as 242 ms of hitch per second at 60 Hz", () => {
  expect(droppedFrames([500], 60)).toBe(29);
  expect(droppedFrames([500], 120)).toBe(59);
  // 0.5 frames each: the sum is rounded, not the stalls.
  expect(droppedFrames([25, 25], 60)).toBe(1);
  expect(hitchMsPerSecond([500], 2000, 60)).toBeCloseTo(241.67, 1);
  expect(hitchMsPerSecond([16], 2000, 60)).toBe(0);
  expect(droppedFrames([16], 60)).toBe(0);
  expect(hitchMsPerSecond([], 0, 60)).toBe(0);
});

type Rows = Record<string, number[]>;

function timesOf(rows: Rows): Times {
  return new Map(Object.entries(rows).map(([name, values]) => [name, new Map(values.map((value, at) => [at, value]))]));
}

const bestOf = (rows: Rows) => bestByOtherRounds(timesOf(rows));

/** Ways with one time for each of two to six rounds, from 10 ns to 1000 s. */
const table = fc
  .integer({ min: 2, max: 6 })
  .chain((rounds) =>
    fc.dictionary(
      fc.constantFrom("a", "b", "c", "d", "e"),
      fc.array(fc.double({ min: 1e-5, max: 1e6, noNaN: true }), { minLength: rounds, maxLength: rounds }),
      { minKeys: 1 },
    ),
  );

describe("the best way of a round", () => {
  test("is the way that is best in the other rounds, whatever its own time is", () => {
    fc.assert(
      fc.property(table, fc.nat(), fc.double({ min: 1e-3, max: 1e3, noNaN: true }), (rows, pick, factor) => {
        const name = Object.keys(rows)[pick % Object.keys(rows).length] as string;
        const values = rows[name] as number[];
        const round = pick % values.length;
        const changed = { ...rows, [name]: values.map((value, at) => (at === round ? value * factor : value)) };
        expect(bestOf(changed).get(round)).toBe(bestOf(rows).get(round));
      }),
    );
  });

  test("is not chosen by the noise of the round itself", () => {
    expect([...bestOf({ a: [1, 2], b: [2, 1] }).values()]).toEqual(["b", "a"]);
  });

  test("is the fastest by geometric mean, so that a slow round does not decide alone", () => {
    expect([...bestOf({ a: [1, 1, 30], b: [2, 2, 20] }).values()]).toEqual(["a", "a", "a"]);
  });

  test("is chosen from the round itself when there is only one", () => {
    expect([...bestOf({ a: [3], b: [2] })]).toEqual([[0, "b"]]);
  });

  test("has all rounds, with times above zero", () => {
    expect([...bestOf({ a: [1, 1], b: [2, 2], late: [0.5], none: [0, 0] }).values()]).toEqual(["a", "a"]);
    expect(bestByOtherRounds(new Map()).size).toBe(0);
  });
});

// The figures of dropped frames, and the published verdict in words.

const drops = (lagMaxMs: number): FrameDrops => frameDropsOf({ totalMs: lagMaxMs, lagsMs: [lagMaxMs] });

describe("frameDropsOf", () => {
  test("counts the frames of a lag beyond its first as dropped", () => {
    expect(frameDropsOf({ totalMs: 1002, lagsMs: [1, 1001] })).toEqual({
      totalMs: 1002,
      probes: 2,
      lagMeanMs: 501,
      lagMaxMs: 1001,
      dropped60: 59,
      dropped120: 119,
      hitch60: expect.closeTo((1001 - 1000 / 60) / 1.002),
      hitch120: expect.closeTo((1001 - 1000 / 120) / 1.002),
    });
  });

  test("has zeros for a run without a lag", () => {
    expect(frameDropsOf({ totalMs: 0, lagsMs: [] })).toMatchObject({ lagMeanMs: 0, lagMaxMs: 0, hitch60: 0 });
  });
});

describe("the published verdict", () => {
  test("of one way has the words of the published experiment", () => {
    expect(jankLine(drops(1001))).toBe("Jank: 59 frames dropped, max lag 1001 ms");
    expect(jankLine(frameDropsOf({ totalMs: 10, lagsMs: [8, 2] }))).toBe(
      "Smooth: max lag 8 ms, average 5 ms, 2 probes",
    );
    expect(jankLine(drops(3))).toBe("Smooth: max lag 3 ms, average 3 ms, 1 probe");
    expect([ms(0.4251), ms(12.345), ms(1234.5)]).toEqual(["0.43 ms", "12.3 ms", "1235 ms"]);
  });
});
