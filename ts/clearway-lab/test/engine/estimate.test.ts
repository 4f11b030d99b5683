// SPDX-License-Identifier: MIT OR Apache-2.0
import { expect, test } from "vitest";
import { COMPARISONS } from "../../src/engine/comparison.js";
import {
  furtherPairs,
  hasTwoGroups,
  intervalOf,
  limitVerdictOf,
  sliceCost,
  trimmedMean,
  verdictOf,
} from "../../src/engine/estimate.js";
import { FURTHER, LIMITS } from "../../src/engine/limits.js";

test("the cost of a slice is the lower quartile without the first fifth", () => {
  expect(sliceCost([900, 900, 10, 11, 12, 13, 14, 500, 500, 500], false)).toBe(11.75);
});

test("the cost of a paced slice is the median", () => {
  expect(sliceCost([900, 10, 20, 30, 40], true)).toBe(25);
});

test("a slice with one cost keeps it", () => {
  expect(sliceCost([7], false)).toBe(7);
});

test("a trimmed mean leaves out the lowest and the highest quarter", () => {
  expect(trimmedMean([1000, 1, 2, 3, 4, 5, 6, -1000])).toBe(3.5);
  expect(trimmedMean([1, 3])).toBe(2);
});

test("an interval is the 99 % interval of Student's t over the pairs", () => {
  // Four pairs, mean 0.1, standard deviation 0.02: the half is 5.8409 * 0.02 / 2.
  const d = 0.02 * Math.sqrt(3 / 4);
  const { ratio, low, high } = intervalOf([0.1 - d, 0.1 - d, 0.1 + d, 0.1 + d]);
  expect(Math.log(ratio)).toBeCloseTo(0.1, 9);
  expect(Math.log(high) - Math.log(ratio)).toBeGreaterThan(0.0584);
  expect(Math.log(ratio) - Math.log(low)).toBeCloseTo(Math.log(high) - Math.log(ratio), 9);
});

test.each([
  [{ low: 1.04, high: 1.2 }, "slower"],
  [{ low: 0.7, high: 0.96 }, "faster"],
  [{ low: 0.96, high: 1.05 }, "no difference"],
  [{ low: 1.01, high: 1.05 }, "open"],
  [{ low: 0.8, high: 1.05 }, "open"],
  [{ low: 1.01, high: 1.2 }, "open"],
] as const)("the interval %o gives the verdict %s", (ends, verdict) => {
  expect(verdictOf({ ratio: 1, ...ends }, false)).toBe(verdict);
});

test("a small difference that stays within 10 % is no difference when no further pair follows", () => {
  expect(verdictOf({ ratio: 1.03, low: 1.01, high: 1.05 }, true)).toBe("no difference");
});

test("the further pairs are those that would decide with the same spread", () => {
  const logs = [0.05, 0.12, 0.09, 0.14];
  const further = furtherPairs(logs, 60)!;
  expect(further).toBeGreaterThan(0);
  expect(furtherPairs(logs, 4 + further)).toBe(further);
  expect(furtherPairs(logs, 3 + further)).toBeUndefined();
});

test("pairs in two groups are seen, a lone outlier is not a group", () => {
  expect(hasTwoGroups([0, 0.01, 0.2, 0.21])).toBe(true);
  expect(hasTwoGroups([0, 0.01, 0.02, 0.4])).toBe(false);
});

test("a limit is held if the interval ends at or below it, missed if it begins above, and else open", () => {
  const interval = { ratio: 1.1, low: 1.05, high: 1.15 };
  expect([1.15, 1.04, 1.1].map((limit) => limitVerdictOf(interval, limit))).toEqual(["held", "missed", "open"]);
});

test("every limit is one of a comparison", () => {
  const names = [...COMPARISONS, ...FURTHER].map(({ name }) => name);
  expect(Object.keys(LIMITS).filter((name) => !names.includes(name))).toEqual([]);
  expect(new Set(names).size).toBe(names.length);
});
