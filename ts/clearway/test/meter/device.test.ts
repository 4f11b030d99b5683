// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, it } from "vitest";
import { calibrationSum, calibrationTask, type DeviceFactor, deviceFactor, scaleMs } from "../../src/meter/device.js";

const device = (p25Ms: number, medianMs: number, p75Ms: number): DeviceFactor => ({
  kind: "clearway-device-factor",
  version: 1,
  factor: medianMs / 5,
  medianMs,
  referenceMs: 5,
  p25Ms,
  p75Ms,
  runs: 21,
});

describe("the device factor", () => {
  it("is based on work with the same result on every device and run", () => {
    expect(calibrationTask()).toBe(calibrationSum);
    expect(calibrationTask()).toBe(calibrationSum);
  });

  it("is the median of the measured runs over the reference", async () => {
    const measured = await deviceFactor({ runs: 3 });
    expect(measured.runs).toBe(3);
    expect(measured.factor).toBeCloseTo(measured.medianMs / measured.referenceMs, 9);
    expect(measured.p25Ms).toBeLessThanOrEqual(measured.medianMs);
    expect(measured.medianMs).toBeLessThanOrEqual(measured.p75Ms);
    expect(measured.p25Ms).toBeGreaterThan(0);
  });

  it("converts 5 ms here into 12 ms there, with the spread of both measurements", () => {
    const scaled = scaleMs(5, device(4, 5, 5), device(12, 12, 15));
    expect(scaled.ms).toBe(12);
    expect(scaled.lowMs).toBe(12);
    expect(scaled.highMs).toBe(18.75);
  });

  it("refuses devices whose ratio is not a number over 0, at most 1000", () => {
    for (const [here, there] of [
      [0, 5],
      [5, 0],
      [Number.NaN, 5],
      [5, -5],
    ] as const)
      expect(() => scaleMs(5, device(1, here, 1), device(1, there, 1))).toThrow(
        "ratio must be over 0, at most 1000: ratio=",
      );
  });
});
