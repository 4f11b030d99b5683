// SPDX-License-Identifier: MIT OR Apache-2.0
// Reports in another device's time.
import { describe, expect, it } from "vitest";
import vectors from "../../../../spec/vectors/meter.json" with { type: "json" };
import { scaleReport } from "../../src/meter/device.js";
import type { Stall, StallReport } from "../../src/meter/report.js";
import { type RunFacts, summarize } from "../../src/meter/summarize.js";

function stall(startMs: number, lengthMs: number): Stall {
  return {
    startMs,
    lengthMs,
    errorMs: 1,
    cause: "app",
    because: "the app ran",
    machineMs: 2,
    gcMs: 3,
    scripts: [{ url: "a.js", functionName: "f", invoker: "", durationMs: 5, layoutMs: 1 }],
    stacks: [],
    marks: [{ label: "parse", overlapMs: 4 }],
  };
}

const report = (stalls: Stall[], facts: Partial<RunFacts> = {}): StallReport =>
  summarize({
    host: "browser",
    label: "import",
    startedAt: "2026-01-01T00:00:00Z",
    durationMs: 1000,
    coveredFromMs: 0,
    hiddenMs: 0,
    hz: 60,
    floorMs: 4,
    stalls,
    droppedStalls: 0,
    frames: undefined,
    sources: [],
    ...facts,
  });

describe("scaleReport()", () => {
  it("makes stalls longer, and keeps the time between them", () => {
    const scaled = scaleReport(report([stall(100, 12), stall(500, 20)]), 3);
    expect(scaled.stalls.map(({ startMs, lengthMs }) => [startMs, lengthMs])).toEqual([
      [100, 36],
      [524, 60],
    ]);
    expect(scaled).toMatchObject({
      durationMs: 1064,
      stalledMs: 96,
      longestMs: 60,
      floorMs: 12,
      label: "import (x 3.00)",
    });
    expect(scaled.stalls[0]).toMatchObject({ errorMs: 3, machineMs: 6, gcMs: 9 });
    expect(scaled.stalls[0]!.scripts[0]).toMatchObject({ durationMs: 15, layoutMs: 3 });
    expect(scaled.stalls[0]!.marks).toEqual([{ label: "parse", overlapMs: 12 }]);
  });

  it("computes hitches and frames of the longer stalls", () => {
    const scaled = scaleReport(report([stall(0, 50)], { frames: { hz: 60, expected: 60, dropped: 2 } }), 2);
    expect(scaled.hitch.msPerSecond).toBeCloseTo(((100 - 1000 / 60) / 1050) * 1000, 9);
    expect(scaled.frames).toEqual({ hz: 60, expected: 63, dropped: 5, estimated: true });
  });

  it("converts to a faster device as well", () => {
    const scaled = scaleReport(report([stall(0, 50), stall(50, 50)]), 0.5);
    expect(scaled.stalls.map(({ startMs, lengthMs }) => [startMs, lengthMs])).toEqual([
      [0, 25],
      [25, 25],
    ]);
    expect(scaled.worstSecond).toEqual({ startMs: 0, stalledMs: 50 });
  });

  it("finds the worst second after the dropped stalls", () => {
    const scaled = scaleReport(report([stall(5000, 50)], { droppedStalls: 7, coveredFromMs: 4500 }), 2);
    expect(scaled.worstSecond.startMs).toBeGreaterThanOrEqual(5000);
    expect(scaled.worstSecond.stalledMs).toBe(100);
  });

  it.each(vectors.reports)("with a ratio of 1 keeps the figures: $name", ({ run, report: known }) => {
    const facts = { coveredFromMs: 0, label: undefined, frames: undefined, ...run } as unknown as RunFacts;
    const { label: _, ...same } = scaleReport(summarize(facts), 1);
    const { label: __, ...expected } = summarize(facts);
    expect(same).toEqual(expected);
    expect(same.longestMs).toBeCloseTo(known.longestMs, 6);
  });

  it("leaves the report as it is", () => {
    const given = report([stall(0, 50)]);
    const before = structuredClone(given);
    scaleReport(given, 4);
    expect(given).toEqual(before);
  });

  it.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY, 1001, "3" as never, undefined as never])(
    "refuses %s",
    (ratio) => {
      expect(() => scaleReport(report([]), ratio as number)).toThrow(
        new RangeError(`ratio must be over 0, at most 1000: ratio=${ratio}`),
      );
    },
  );
});
