// SPDX-License-Identifier: MIT OR Apache-2.0
// The statistics of two devices, with made-up times; and stalls in another device's time.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { floorFor, stallsThere } from "../../src/ratio/device-time.js";
import { extremes, ratioOf, slowdown } from "../../src/ratio/ratio-file.js";
import { samples } from "./samples.js";

const ROUNDS = [1, 1.1, 0.9, 1.05, 0.95];

describe("the ratio of two devices", () => {
  test("is exact, with an interval of no width, if every piece and round has it", () => {
    const { ratio, ratioMin, ratioMax, pieces } = ratioOf(samples([2, 2, 2]), samples([5, 5, 5]));
    for (const value of [ratio, ratioMin, ratioMax, ...pieces.map((piece) => piece.ratio)])
      expect(value).toBeCloseTo(2.5, 9);
  });

  test("is the geometric mean of the pieces' ratios", () => {
    const factors = [1, 2, 4, 8, 16];
    const { ratio, pieces } = ratioOf(samples(ROUNDS), samples(ROUNDS, factors));
    expect(pieces.map((piece) => piece.ratio)).toEqual(factors.map((factor) => expect.closeTo(factor, 9)));
    expect(ratio).toBeCloseTo(4, 9);
  });

  test("has an interval that contains it, and is wider if the kinds of work differ", () => {
    const other = ROUNDS.toReversed();
    const same = ratioOf(samples(ROUNDS), samples(other, [3, 3.1, 2.9, 3, 3]));
    const differing = ratioOf(samples(ROUNDS), samples(other, [1, 2, 3, 4, 5]));
    for (const { ratio, ratioMin, ratioMax } of [same, differing, ...same.pieces]) {
      expect(ratioMin).toBeLessThan(ratio);
      expect(ratioMax).toBeGreaterThan(ratio);
    }
    expect(differing.ratioMax / differing.ratioMin).toBeGreaterThan(same.ratioMax / same.ratioMin);
  });

  test("is the reciprocal if the devices change places", () => {
    const ms = fc.array(fc.double({ min: 0.01, max: 100, noNaN: true }), { minLength: 3, maxLength: 12 });
    fc.assert(
      fc.property(ms, ms, (a, b) => {
        const [there, back] = [ratioOf(samples(a), samples(b)), ratioOf(samples(b), samples(a))];
        expect(there.ratio * back.ratio).toBeCloseTo(1, 9);
      }),
      { numRuns: 20 },
    );
  });

  test("names the extreme pieces only if they differ widely", () => {
    const { pieces } = ratioOf(samples(ROUNDS), samples(ROUNDS, [1, 1.2, 1.4, 1.45, 1.49]));
    expect(extremes(pieces)).toBeUndefined();
    const wide = ratioOf(samples(ROUNDS), samples(ROUNDS, [1, 1.2, 1.4, 1.45, 1.6])).pieces;
    expect(extremes(wide)).toMatchObject({ least: { name: "integers" }, most: { name: "collections" } });
    expect(extremes([])).toBeUndefined();
  });
});

test("a device that gets slower is recognised by its last rounds", () => {
  expect(slowdown(samples([1, 1, 1, 1, 1, 1]))).toBeCloseTo(1, 9);
  expect(slowdown(samples([1, 1, 1.1, 1.1, 1.3, 1.3]))).toBeCloseTo(1.3, 9);
});

describe("stalls in another device's time", () => {
  test("are longer, and lengthen the run by the same time", () => {
    expect(stallsThere([10, 20], 1000, 3)).toEqual({ lengthsMs: [30, 60], durationMs: 1060 });
    expect(stallsThere([10, 20], 1000, 0.5)).toEqual({ lengthsMs: [5, 10], durationMs: 985 });
    expect(stallsThere([], 1000, 3)).toEqual({ lengthsMs: [], durationMs: 1000 });
  });

  test.each([0, -2, Number.NaN, Number.POSITIVE_INFINITY, 1001])("refuse the ratio %s", (ratio) => {
    expect(() => stallsThere([10], 100, ratio)).toThrow(
      `a device's ratio must be a number over 0, at most 1000: ratio=${ratio}`,
    );
  });

  test("need a lower floor of the meter on a slower device, but not under 1 ms", () => {
    const floor = (ratio: number) => floorFor({ ratio, name: "x" });
    expect([floor(2), floor(8), floor(0.5), floorFor(undefined)]).toEqual([2, 1, 4, 4]);
  });
});
