// SPDX-License-Identifier: MIT OR Apache-2.0
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { pairedRatios } from "../src/statistics/compare.js";
import { type Decision, decide, pairedFloor, ROUNDS_MIN, type Verdict } from "../src/statistics/decide.js";
import { randomFrom } from "../src/statistics/random.js";

const decided = (ratios: number[], floor = 1.05) => decide(ratios, floor) as Decision;

describe("a decision", () => {
  test.each<[string, number[], number, Verdict]>([
    ["all rounds beyond the floor, below 1", [0.5, 0.6, 0.4, 0.5, 0.7], 1.2, "decided"],
    ["all rounds beyond the floor, above 1", [2, 3, 1.4, 2, 2], 1.2, "decided"],
    ["one round within the floor", [2, 3, 1.1, 2, 2], 1.2, "undecided"],
    ["one round that points the other way", [0.5, 0.6, 0.4, 0.5, 3], 1.05, "undecided"],
    ["every round near 1", [1.02, 0.98, 1, 1.05, 0.95], 1.05, "no difference"],
    ["every round within a wide floor", [1.2, 0.9, 1.3, 0.8, 1], 1.4, "undecided"],
    ["a factor of 2 within a wide floor", [0.5, 0.5, 0.5, 0.5, 0.5], 3, "undecided"],
    ["four rounds, however clear", [0.01, 0.01, 0.01, 0.01], 1.05, "undecided"],
    ["two humps on both sides of 1", [0.4, 2.6, 0.4, 2.6, 0.4], 1.05, "undecided"],
  ])("of %s", (_, ratios, floor, verdict) => {
    expect(decided(ratios, floor).verdict).toBe(verdict);
  });

  test("has the smallest and the largest of five to eight rounds as interval, and leaves out outliers of nine", () => {
    for (const rounds of [5, 6, 7, 8]) {
      const ratios = Array.from({ length: rounds }, (_, at) => at + 1);
      expect(decided(ratios)).toMatchObject({ low: 1, high: rounds, rounds });
    }
    expect(decided([1, 2, 3, 4, 5, 6, 7, 8, 9])).toMatchObject({ low: 2, high: 8, ratio: 5 });
    expect(decided([0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 40]).verdict).toBe("decided");
  });

  test("is the inverse one when subject and reference change places", () => {
    const ratios = fc.array(fc.double({ min: 0.01, max: 100, noNaN: true }), { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(ratios, fc.double({ min: 1, max: 3, noNaN: true }), (values, floor) => {
        const [one, other] = [
          decided(values, floor),
          decided(
            values.map((value) => 1 / value),
            floor,
          ),
        ];
        expect(other.ratio).toBeCloseTo(1 / one.ratio, 6);
        expect(one.low).toBeLessThanOrEqual(one.ratio);
        expect(one.high).toBeGreaterThanOrEqual(one.ratio);
      }),
    );
  });

  test("is none without a round, and refuses what is no ratio or floor", () => {
    expect(decide([], 1.05)).toBeUndefined();
    for (const ratio of [0, -1, Number.NaN, Number.POSITIVE_INFINITY])
      expect(() => decide([1, ratio], 1.05)).toThrow(`ratio=${ratio}`);
    for (const floor of [0.9, Number.NaN]) expect(() => decide([1], floor)).toThrow(`floor=${floor}`);
  });
});

/** Simulates runs. Every round measures the subject, the reference and the reference again, with noise of one or two humps. */
function runs(count: number, factor: number, sigma: number, hump: number): Decision[] {
  const random = randomFrom(11);
  const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  const time = () => Math.exp(sigma * normal()) * (random() < 0.5 ? 1 : hump);
  return Array.from({ length: count }, () => {
    const [subject, reference, repeat] = [factor, 1, 1].map(
      (scale) => new Map(Array.from({ length: 9 }, (_, round) => [round, scale * time()])),
    ) as [Map<number, number>, Map<number, number>, Map<number, number>];
    // Decides after each round from the fifth on, as a run does that stops when it is decided.
    for (let rounds = ROUNDS_MIN; ; rounds++) {
      const first = (series: Map<number, number>) => new Map([...series].slice(0, rounds));
      const floor = pairedFloor(pairedRatios(first(reference), first(repeat)));
      const ratios = [...first(subject)].map(([round, value]) => value / (reference.get(round) as number));
      const found = decided(ratios, floor);
      if (found.verdict === "decided" || rounds === 9) return found;
    }
  });
}
const share = (found: Decision[]) => found.filter(({ verdict }) => verdict === "decided").length / found.length;

describe("stopping at the first decision, over 2000 simulated runs", () => {
  test.each([
    [0.02, 1],
    [0.1, 1],
    [0.5, 1],
    [0.1, 3],
  ])("decides nothing between equals: noise %d, humps a factor %d apart", (sigma, hump) => {
    expect(share(runs(2000, 1, sigma, hump))).toBeLessThan(0.005);
  });

  test("sees a factor of 2 through noise of a tenth, and says which is smaller", () => {
    const found = runs(2000, 0.5, 0.1, 1);
    expect(share(found)).toBeGreaterThan(0.9);
    for (const { verdict, ratio } of found) if (verdict === "decided") expect(ratio).toBeLessThan(1);
  });

  test("leaves a factor of 2 undecided when humps are a factor of 3 apart", () => {
    expect(share(runs(2000, 0.5, 0.1, 3))).toBeLessThan(0.05);
  });
});
