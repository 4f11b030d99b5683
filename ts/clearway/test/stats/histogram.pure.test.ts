// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import { bucketBoundsUs, Histogram } from "../../src/stats/timings.js";
import fc from "../fixtures/fast-check.js";

const filled = (values: number[]): Histogram => {
  const histogram = new Histogram();
  for (const value of values) histogram.record(value);
  return histogram;
};

describe("a histogram", () => {
  test("returns quantiles within 3.2 % or one microsecond of the exact ones", () => {
    const durations = fc.array(
      fc.oneof(fc.double({ min: 0, max: 100, noNaN: true }), fc.integer({ min: 0, max: 2 ** 31 - 1 })),
      { minLength: 1, maxLength: 300 },
    );
    fc.assert(
      fc.property(durations, fc.double({ min: 0, max: 1, noNaN: true }), (values, q) => {
        const sorted = [...values].sort((a, b) => a - b);
        const exact = sorted[Math.max(1, Math.ceil(q * values.length)) - 1]!;
        expect(Math.abs(filled(values).quantile(q) - exact)).toBeLessThanOrEqual(Math.max(1, exact * 0.032));
      }),
    );
  });

  test("has the exact count, sum, minimum, maximum and mean", () => {
    expect(filled([4, 8, 600]).summary()).toMatchObject({ count: 3, sum: 612, min: 4, mean: 204, max: 600, p50: 8 });
  });

  test("counts exactly the values below each bound of its summary's buckets", () => {
    expect(bucketBoundsUs.slice(0, 4)).toEqual([16, 64, 256, 1024]);
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0, max: 2 ** 26, noNaN: true })), (values) => {
        const { buckets } = filled([...values, 16, 15.999, 63.5, 64, 2 ** 24]).summary();
        const all = [...values, 16, 15.999, 63.5, 64, 2 ** 24];
        expect(buckets).toEqual(bucketBoundsUs.map((bound) => all.filter((each) => each < bound).length));
      }),
    );
  });

  test("counts a negative duration, from clocks that disagree, as zero", () => {
    expect(filled([-5]).summary()).toMatchObject({ count: 1, min: 0, max: 0, p50: 0 });
  });

  test("counts values beyond its range in its last bucket", () => {
    expect(filled([2 ** 40]).summary()).toMatchObject({ max: 2 ** 40 });
    expect(filled([2 ** 40]).quantile(1)).toBeGreaterThanOrEqual(2 ** 31);
  });

  test("returns NaN when it is empty", () => {
    expect(new Histogram().summary()).toMatchObject({ count: 0, min: Number.NaN, p50: Number.NaN, max: Number.NaN });
  });
});
