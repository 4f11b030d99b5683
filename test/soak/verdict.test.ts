// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import { slopeOf, trendsOf } from "../../soak/verdict.mjs";

const MiB = 2 ** 20;
/** Noise without a trend: the fractional parts of multiples of the golden ratio. */
const noise = (at: number): number => ((at * 0.6180339887) % 1) - 0.5;
const samples = (count: number, heap: (at: number) => number) =>
  Array.from({ length: count }, (_, at) => ({ at: at * 10, heap: heap(at) }));
const verdict = (given: ReturnType<typeof samples>): string => trendsOf(given)[0]!.verdict;

describe("the trend of a part", () => {
  test("is flat when the heap only varies", () => {
    expect(verdict(samples(100, (at) => 40 * MiB + noise(at) * 4 * MiB))).toBe("flat");
  });

  test("is flat when the heap grows in the first quarter only", () => {
    expect(verdict(samples(100, (at) => 40 * MiB + Math.min(at, 25) * MiB + noise(at) * MiB))).toBe("flat");
  });

  test("grows when the heap gains more than a tenth over the rest of the run", () => {
    expect(verdict(samples(100, (at) => 40 * MiB + at * 0.2 * MiB + noise(at) * 2 * MiB))).toBe("grows");
  });

  test("is undecided when the noise is larger than the limit", () => {
    expect(verdict(samples(40, (at) => 40 * MiB + noise(at) * 60 * MiB))).toBe("undecided");
  });

  test("is not moved by a few outliers", () => {
    expect(verdict(samples(100, (at) => (at % 20 === 19 ? 400 * MiB : 40 * MiB + noise(at) * MiB)))).toBe("flat");
  });

  test("is not judged by few samples", () => {
    expect(verdict(samples(20, (at) => at * MiB))).toBe("too few samples");
  });

  test("leaves out what the host does not report", () => {
    expect(trendsOf(samples(40, () => MiB)).map(({ name }: { name: string }) => name)).toEqual(["heap"]);
  });

  test("has the slope of a straight line, with an interval of no width", () => {
    const points = Array.from({ length: 30 }, (_, at) => ({ at, value: 3 * at + 1 }));
    expect(slopeOf(points)).toEqual({ slope: 3, low: 3, high: 3 });
  });
});
