// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests the formulas of a comparison against tables, exact values and simple cases.
import { describe, expect, test } from "vitest";
import {
  estimatePaired,
  estimateUnpaired,
  intervalOf,
  pairRounds,
  probabilityAbove,
  withRunNoise,
} from "../../src/statistics/compare-runs.js";
import {
  correlationOfNeighbours,
  effectiveSize,
  sharedCorrelation,
  usedCorrelation,
} from "../../src/statistics/effective-size.js";
import { histogramOf } from "../../src/statistics/histogram.js";
import { holm } from "../../src/statistics/holm.js";
import { humpsOf, probabilityOfHumps } from "../../src/statistics/humps.js";
import { randomFrom } from "../../src/statistics/random.js";
import {
  bootstrapError,
  normalFrom,
  REDRAWS,
  type RoundFigure,
  redrawnQuantiles,
} from "../../src/statistics/resample.js";
import { differenceOfRuns, spreadAroundOne } from "../../src/statistics/run-noise.js";
import { studentQuantile, studentTail } from "../../src/statistics/student.js";

const figures = (logs: readonly number[]): RoundFigure[] => logs.map((log, round) => ({ round, log, redrawn: [] }));

describe("Student's t distribution", () => {
  test.each([
    [0.05, 1, 6.3138],
    [0.025, 2, 4.3027],
    [0.025, 4, 2.7764],
    [0.005, 9, 3.2498],
    [0.001, 30, 3.3852],
    [0.025, 1e6, 1.96],
    [0.0005, 4, 8.6103],
  ])("has the tabulated quantile: %d with %d degrees of freedom", (probability, degrees, expected) => {
    expect(studentQuantile(probability, degrees)).toBeCloseTo(expected, 3);
    expect(studentTail(expected, degrees)).toBeCloseTo(probability, 5);
    expect(studentQuantile(1 - probability, degrees)).toBeCloseTo(-expected, 3);
  });

  test("is one half at 0, and has thin and fat tails to the end", () => {
    for (const degrees of [0.7, 1, 4.5, 1e9]) expect(studentTail(0, degrees)).toBeCloseTo(0.5, 12);
    // With one degree of freedom it is Cauchy's distribution.
    for (const t of [-30, -1, 0.3, 5, 1e6]) expect(studentTail(t, 1)).toBeCloseTo(0.5 - Math.atan(t) / Math.PI, 12);
    expect(studentTail(Number.POSITIVE_INFINITY, 3)).toBe(0);
    expect(studentTail(Number.NEGATIVE_INFINITY, 3)).toBe(1);
  });

  test("refuses what is no probability, no number and no degree of freedom", () => {
    for (const degrees of [0, -1, Number.NaN]) expect(() => studentTail(1, degrees)).toThrow(`degrees=${degrees}`);
    expect(() => studentTail(Number.NaN, 1)).toThrow("t=NaN");
    for (const p of [0, 1, Number.NaN]) expect(() => studentQuantile(p, 3)).toThrow(`probability=${p}`);
  });
});

describe("Holm's correction", () => {
  test("multiplies the smallest by the number of all, keeps the order and never exceeds 1", () => {
    expect(holm([0.01, 0.04, 0.03, 0.005])).toEqual([0.03, 0.06, 0.06, 0.02]);
    expect(holm([0.9, 0.8])).toEqual([1, 1]);
    expect(holm([])).toEqual([]);
    for (const p of [-0.1, 1.1, Number.NaN]) expect(() => holm([p])).toThrow(`p=${p}`);
  });
});

describe("the effective sample size", () => {
  test("is the number of rounds if they are independent, and less if they resemble their neighbours", () => {
    expect(effectiveSize(10, 0)).toBe(10);
    expect(effectiveSize(10, 0.5)).toBeCloseTo(10 / 3);
  });

  test("takes the correlation of one cell mostly from all cells", () => {
    expect(correlationOfNeighbours([1, 2, 3, 4])).toBeCloseTo(0.25 + 1 / 4);
    expect(correlationOfNeighbours([1, 1, 1])).toBeUndefined();
    expect(correlationOfNeighbours([1, 2])).toBeUndefined();
    expect(sharedCorrelation([])).toBe(0);
    const trend = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
    expect(usedCorrelation(trend, 0)).toBeCloseTo((0.8 * 10) / 30);
    expect(usedCorrelation([1, -1, 1, -1], -0.5)).toBe(0);
    expect(usedCorrelation(trend, 5)).toBe(0.9);
  });

  test("of simulated series with a known correlation is near the true one", () => {
    const random = randomFrom(3);
    const series = Array.from({ length: 400 }, () => {
      const values = [normalFrom(random)];
      while (values.length < 9) values.push(0.4 * values.at(-1)! + Math.sqrt(1 - 0.16) * normalFrom(random));
      return values;
    });
    const shared = sharedCorrelation(series);
    expect(shared).toBeGreaterThan(0.2);
    expect(shared).toBeLessThan(0.45);
  });
});

describe("the hierarchical bootstrap", () => {
  test("has the standard error of a mean, for rounds without samples", () => {
    const logs = [0.1, 0.3, 0.2, 0.5, 0.4];
    // The textbook's: the standard deviation divided by the square root of n.
    expect(bootstrapError(figures(logs), randomFrom(1), 20_000)).toBeCloseTo(0.1581 / Math.sqrt(5), 3);
  });

  test("adds the noise of the samples inside the rounds", () => {
    const rounds = [0, 1, 2, 3].map((round) => ({ round, log: 0, redrawn: [-1, 1] }));
    expect(bootstrapError(rounds, randomFrom(1), 20_000)).toBeCloseTo(Math.sqrt(1 / 4) * Math.sqrt(4 / 3), 1);
  });

  test("does not change its digits with the size of the figures", () => {
    const logs = [1, 3, 2];
    const near = bootstrapError(figures(logs), randomFrom(1));
    expect(bootstrapError(figures(logs.map((log) => log + 1e6)), randomFrom(1))).toBeCloseTo(near, 6);
  });

  test("refuses fewer than two rounds", () => {
    expect(() => bootstrapError(figures([1]), randomFrom(1))).toThrow("rounds.length=1");
  });

  test("draws quantiles with the spread that drawing all samples again has", () => {
    const random = randomFrom(8);
    const samples = Array.from({ length: 200 }, () => Math.round(1e5 * (1 + random())));
    const redrawn = Array.from({ length: 60 }, () => redrawnQuantiles(histogramOf(samples), 0.5, random)).flat();
    expect(redrawn).toHaveLength(60 * REDRAWS);
    const spread = (values: number[]) => {
      const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
      return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length);
    };
    const slow = Array.from({ length: 2000 }, () => {
      const again = samples.map(() => samples[Math.floor(random() * samples.length)]!);
      return again.sort((a, b) => a - b)[99]!;
    });
    expect(spread(redrawn) / spread(slow)).toBeGreaterThan(0.9);
    expect(spread(redrawn) / spread(slow)).toBeLessThan(1.1);
  });
});

describe("an estimate", () => {
  const a = figures([0, 0.02, -0.01, 0.01, 0]);
  const b = figures([0.3, 0.31, 0.3, 0.33, 0.29]);

  test("of paired rounds is the mean of their log ratios, and of the rounds that both have", () => {
    const pairs = pairRounds(a, b.slice(1).reverse());
    expect(pairs.map(({ round }) => round)).toEqual([4, 3, 2, 1]);
    const { log, effectiveRounds, degrees } = estimatePaired(pairRounds(a, b), 0, randomFrom(1));
    expect(log).toBeCloseTo(0.302);
    expect(effectiveRounds).toBeCloseTo(5, 0);
    expect(degrees).toBeCloseTo(effectiveRounds - 1);
  });

  test("is the exact opposite when the runs change places", () => {
    const sampled = (logs: readonly RoundFigure[], seed: number) => {
      const random = randomFrom(seed);
      return logs.map((each) => ({
        ...each,
        redrawn: Array.from({ length: REDRAWS }, () => each.log + 0.01 * random()),
      }));
    };
    const [first, second] = [sampled(a, 1), sampled(b, 2)];
    const forth = estimatePaired(pairRounds(first, second), 0.1, randomFrom(5));
    const back = estimatePaired(pairRounds(second, first), 0.1, randomFrom(5));
    expect(back).toEqual({ ...forth, log: -forth.log });
    const apart = estimateUnpaired(first, second, [0.1, 0.2], [randomFrom(1), randomFrom(2)]);
    const swapped = estimateUnpaired(second, first, [0.2, 0.1], [randomFrom(2), randomFrom(1)]);
    expect(swapped).toEqual({ ...apart, log: -apart.log });
  });

  test("of equal rounds is exact, and a p-value of it is 0 or 1", () => {
    const estimate = estimatePaired(pairRounds(a, a), 0, randomFrom(1));
    expect(estimate).toMatchObject({ log: 0, error: 0 });
    expect(intervalOf(estimate, 0.95)).toEqual({ low: 0, high: 0 });
    expect([probabilityAbove(estimate, -0.1), probabilityAbove(estimate, 0)]).toEqual([0, 1]);
  });

  test("has a wider interval with the noise between runs, and at least its few degrees of freedom", () => {
    const estimate = { log: 0.1, error: 0.03, degrees: 4, effectiveRounds: 5 };
    const noisy = withRunNoise(estimate, 0.04, 4);
    expect(noisy.error).toBeCloseTo(0.05);
    expect(noisy.degrees).toBeCloseTo(0.0025 ** 2 / (0.0009 ** 2 / 4 + 0.0016 ** 2 / 4));
    expect(withRunNoise({ ...estimate, error: 0 }, 0, 4)).toMatchObject({ error: 0, degrees: 4 });
  });

  test("contains the true ratio in its interval as often as it says, over 2000 simulated runs", () => {
    const random = randomFrom(4);
    let inside = 0;
    for (let run = 0; run < 2000; run++) {
      const pairs = figures(Array.from({ length: 6 }, () => 0.2 + 0.05 * normalFrom(random)));
      const { low, high } = intervalOf(estimatePaired(pairs, 0, random), 0.95);
      if (low <= 0.2 && high >= 0.2) inside++;
    }
    expect(inside / 2000).toBeGreaterThan(0.94);
    expect(inside / 2000).toBeLessThan(0.98);
  });
});

describe("the noise between runs", () => {
  const shifts = (logs: readonly number[], error: number) => logs.map((log) => ({ log, error }));

  test("is none if the errors of the rounds explain the shifts", () => {
    expect(differenceOfRuns(shifts([0.01, -0.01, 0, 0.02, -0.02], 0.05))).toEqual({ shift: 0, spread: 0 });
    expect(differenceOfRuns([])).toEqual({ shift: 0, spread: 0 });
    expect(spreadAroundOne(shifts([0.3], 0.4))).toBe(0);
  });

  test("separates what the whole machine differs from what single cells differ", () => {
    const random = randomFrom(6);
    const many = Array.from({ length: 500 }, () => 0.05 + 0.02 * normalFrom(random));
    const { shift, spread } = differenceOfRuns(shifts(many, 0.001));
    expect(shift).toBeCloseTo(0.05, 2);
    expect(spread).toBeCloseTo(0.02, 2);
    expect(spreadAroundOne(shifts(many, 0.001))).toBeCloseTo(Math.hypot(0.05, 0.02), 2);
  });

  test("is too small in one of ten cases, for few cells too", () => {
    const random = randomFrom(7);
    let less = 0;
    for (let pair = 0; pair < 1000; pair++) {
      const cells = Array.from({ length: 10 }, () => 0.03 * normalFrom(random) + 0.01 * normalFrom(random));
      if (differenceOfRuns(shifts(cells, 0.01)).spread < 0.03) less++;
    }
    expect(less / 1000).toBeGreaterThan(0.05);
    expect(less / 1000).toBeLessThan(0.16);
  });
});

describe("two humps", () => {
  const humped = [0, 0.01, 0.6, 0.61, 0, 0.6];
  const flat = [0, 0.01, 0.02, 0.01, 0, 0.015];

  test("are seen if each has two rounds, and a single disturbed round is none", () => {
    expect(humpsOf([humped, flat, [0, 0, 0, 0, 3], [0, 1]])).toMatchObject({
      series: 3,
      sizes: [expect.closeTo(0.6, 1)],
    });
  });

  test("make a difference of their size doubtful, and a larger one hardly", () => {
    const humps = humpsOf([humped, humped, flat, flat]);
    const small = probabilityOfHumps(humps, 0.5, 5, 5);
    expect(small).toBeGreaterThan(5 * probabilityOfHumps(humps, 2, 5, 5) * 0.9);
    expect(probabilityOfHumps(humps, 0.5, 9, 9)).toBeLessThan(small);
  });

  test("make it more doubtful if cells stay in one for long", () => {
    const long = [0, 0.01, 0, 0.01, 0.6, 0.61, 0.6, 0.61];
    const short = [0, 0.6, 0.01, 0.61, 0, 0.6, 0.01, 0.61];
    const probability = (series: number[]) =>
      probabilityOfHumps(humpsOf(Array.from({ length: 8 }, () => series)), 0.5, 5, 5);
    expect(probability(long)).toBeGreaterThan(3 * probability(short));
  });

  test("are not excluded by a run without any", () => {
    const probability = probabilityOfHumps(humpsOf([flat, flat]), 0.5, 5, 5);
    expect(probability).toBeGreaterThan(0);
    expect(probability).toBeLessThan(0.05);
    expect(probabilityOfHumps(humpsOf([]), 0.5, 5, 5)).toBeLessThanOrEqual(0.5);
  });
});
