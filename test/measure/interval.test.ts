// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import { intervalOf, verdictOf } from "../../measure/interval.mjs";

const upTo = (n: number) => Array.from({ length: n }, (_, at) => at + 1);

describe("the interval of a median", () => {
  test("has the published ranks for 95 of 100 cases", () => {
    // The ranks of the two-sided sign test at 5 %, as `n: rank`, are 6: 1, 9: 2, 12: 3, 15: 4, 20: 6 and 25: 8.
    for (const [n, rank] of [
      [6, 1],
      [9, 2],
      [12, 3],
      [15, 4],
      [20, 6],
      [25, 8],
    ] as const)
      expect(intervalOf(upTo(n)), `n=${n}`).toMatchObject({ low: rank, high: n + 1 - rank, n });
  });

  test("contains the median in at least 95 of 100 cases from six samples on, and has its coverage with fewer", () => {
    for (let n = 6; n < 60; n++) expect(intervalOf(upTo(n)).coverage).toBeGreaterThanOrEqual(0.95);
    expect(intervalOf([3])).toEqual({ median: 3, low: 3, high: 3, coverage: 0, n: 1 });
    expect(intervalOf([4, 2])).toMatchObject({ median: 3, low: 2, high: 4, coverage: 0.5 });
  });

  test("contains an infinite error for a stall that was not found", () => {
    const { median, high } = intervalOf([1, 2, 3, 4, 5, Number.POSITIVE_INFINITY]);
    expect([median, high]).toEqual([3.5, Number.POSITIVE_INFINITY]);
  });

  test("is refused without samples", () => {
    expect(() => intervalOf([])).toThrow("samples=0");
  });
});

describe("the verdict on a figure", () => {
  const asked = { sense: "at most", limit: 10 };

  test("is out only when the whole interval is beyond the limit", () => {
    expect(verdictOf({ low: 11, high: 12 }, asked)).toBe("out");
    expect(verdictOf({ low: 9, high: 12 }, asked)).toBe("undecided");
    expect(verdictOf({ low: 8, high: 10 }, asked)).toBe("kept");
  });

  test("is mirrored for a lower limit", () => {
    const least = { sense: "at least", limit: 10 };
    expect(verdictOf({ low: 8, high: 9 }, least)).toBe("out");
    expect(verdictOf({ low: 8, high: 11 }, least)).toBe("undecided");
    expect(verdictOf({ low: 10, high: 11 }, least)).toBe("kept");
  });
});
