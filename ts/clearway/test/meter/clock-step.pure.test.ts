// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import { clockStepOf } from "../../src/meter/host/host.js";
import { bestOffset } from "../../src/meter/ping.js";

/** A clock that is read every `readMs`, and that a browser rounds down to steps of `stepMs`. */
function clockOf(stepMs: number, readMs: number): () => number {
  let reads = 0;
  return () => Math.floor((0.3 + ++reads * readMs) / stepMs) * stepMs;
}

describe("the step of a clock is", () => {
  test.each([0.005, 0.1, 1])("%f ms for a clock that is rounded to that", (stepMs) => {
    expect(clockStepOf(clockOf(stepMs, stepMs / 7))).toBeCloseTo(stepMs, 9);
  });

  test("infinite for a clock that does not step while it is read", () => {
    expect(clockStepOf(() => 16.7)).toBe(Number.POSITIVE_INFINITY);
  });
});

describe("with clocks that step 1 ms, the offset of a remote clock", () => {
  test("has an error of at least one step", () => {
    expect(bestOffset([{ sentMs: 5, remoteMs: 5, backMs: 5 }], 1)).toEqual({ offsetMs: 0, errorMs: 1 });
  });

  test("agrees with trips that are apart by less than the steps", () => {
    const trips = [
      { sentMs: 5, remoteMs: 5, backMs: 5 },
      { sentMs: 9, remoteMs: 10, backMs: 9 },
    ];
    expect(bestOffset(trips, 1)).toEqual({ offsetMs: 0.5, errorMs: 0.5 });
  });
});
