// SPDX-License-Identifier: MIT OR Apache-2.0
// The figures of a run, and the schema of the meter's reports, with the examples that all languages share.
import { Ajv2020 } from "ajv/dist/2020.js";
import { measure } from "clearway/meter";
import { describe, expect, test } from "vitest";
import schema from "../../../../spec/stalls.schema.json" with { type: "json" };
import vectors from "../../../../spec/vectors/meter.json" with { type: "json" };
import { figuresOf } from "../../src/jank/figures.js";
import { droppedFrames, hitchMsPerSecond } from "../../src/statistics/stalls.js";

type Reports = Parameters<typeof figuresOf>[0];

describe("the figures", () => {
  test.each(vectors.reports)("are those of the meter: $name", ({ run, report }) => {
    const figures = figuresOf([{ ...report, stalls: run.stalls }] as unknown as Reports);
    expect(figures.longestMs).toBeCloseTo(report.ownLongestMs, 6);
    expect(Math.max(figures.longestMs, figures.machineMs)).toBeCloseTo(report.longestMs, 6);
    expect(figures.stalledMs).toBeCloseTo(report.stalledMs, 6);
    expect(figures.lagMeanMs).toBeCloseTo(report.lagMeanMs, 6);
    const lengths = run.stalls.map(({ lengthMs }) => lengthMs);
    expect(hitchMsPerSecond(lengths, report.durationMs, report.hitch.hz)).toBeCloseTo(report.hitch.msPerSecond, 6);
    expect(droppedFrames(lengths, report.frames.hz)).toBe(report.frames.dropped);
    if (report.frames.hz === 60) expect(figures.frames60.dropped).toBe(report.frames.dropped);
  });

  const report = (lengths: number[], frames: object) =>
    ({ durationMs: 1000, stalls: lengths.map((lengthMs) => ({ lengthMs })), frames }) as unknown as Reports[number];

  test("of several documents are those of the whole time", () => {
    const frames = { hz: 60, dropped: 0, estimated: true };
    const figures = figuresOf([report([100], frames), report([50, 20], frames)]);
    expect(figures).toMatchObject({ durationMs: 2000, stalls: 3, longestMs: 100, stalledMs: 170 });
    expect(figures.lagMeanMs).toBeCloseTo((100 ** 2 + 50 ** 2 + 20 ** 2) / 4000, 9);
  });

  test("have the display's frames if every document counted them at this rate", () => {
    const counted = report([100], { hz: 61, dropped: 3, estimated: false });
    expect(figuresOf([counted, counted]).frames60).toEqual({ dropped: 6, counted: true });
    expect(figuresOf([counted]).frames120).toEqual({ dropped: 11, counted: false });
    const estimated = report([100], { hz: 60, dropped: 3, estimated: true });
    expect(figuresOf([counted, estimated]).frames60).toEqual({ dropped: 10, counted: false });
  });

  test("of nothing are 0", () => {
    expect(figuresOf([])).toMatchObject({ durationMs: 0, longestMs: 0, hitch60: 0, lagMeanMs: 0 });
  });
});

const validate = new Ajv2020({ allErrors: true, allowUnionTypes: true }).compile(schema);

/** Returns the places at which a report does not match the schema. */
const departures = (report: unknown): unknown => (validate(report) ? [] : validate.errors);

test("the meter's report matches the schema of stalls", async () => {
  const { report } = await measure(() => {
    const end = performance.now() + 20;
    while (performance.now() < end);
  });
  expect(departures(JSON.parse(JSON.stringify(report)))).toEqual([]);
});

test.each(vectors.reports)("a report in every language matches the schema: $name", ({ run, report }) => {
  expect(departures({ ...report, stalls: run.stalls })).toEqual([]);
});

test("a report with another version is refused", () => {
  expect(departures({ ...vectors.reports[0]?.report, stalls: [], version: 2 })).not.toEqual([]);
});
