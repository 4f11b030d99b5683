// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import { summarize } from "../../src/meter/summarize.js";
import { type StallReport, stallTrace } from "../../src/meter-trace.js";
import { stallOf } from "./stalls.js";

/** Returns a report of a run of 10 s with two stalls, changed by `more`. */
function reportOf(more: Partial<StallReport> = {}): StallReport {
  const marks = [{ label: "parse", overlapMs: 60 }];
  const report = summarize({
    host: "node",
    label: "importer",
    startedAt: "2026-01-02T03:04:05.000Z",
    durationMs: 10_000,
    coveredFromMs: 0,
    hiddenMs: 0,
    hz: 60,
    floorMs: 4,
    stalls: [
      stallOf({ startMs: 1000.5, lengthMs: 100, marks, stacks: [{ frames: ["parse", "main"], seen: 3 }] }),
      stallOf({ startMs: 3000, lengthMs: 20, cause: "gc", gcMs: 18, because: "garbage collection took 18.0 ms of it" }),
    ],
    droppedStalls: 0,
    frames: undefined,
    sources: [],
  });
  return { ...report, ...more };
}

const slices = (trace: ReturnType<typeof stallTrace>, pid = 1) =>
  trace.traceEvents.filter((event) => event.ph === "X" && event.pid === pid);

describe("stallTrace", () => {
  test("has a slice for each stall, in microseconds, named by its cause, with the evidence", () => {
    const found = slices(stallTrace(reportOf())).filter(({ cat }) => cat === "stall");
    expect(found).toEqual([
      {
        name: "app",
        ph: "X",
        cat: "stall",
        pid: 1,
        tid: 1,
        ts: 1_000_500,
        dur: 100_000,
        args: {
          because: "parse ran without giving the thread back",
          lengthMs: 100,
          errorMs: 0,
          machineMs: 0,
          gcMs: 0,
          droppedFrames: 5,
          labels: ["parse"],
          stacks: ["seen 3 times:\nparse\nmain"],
        },
      },
      expect.objectContaining({ name: "gc", ts: 3_000_000, dur: 20_000, args: expect.objectContaining({ gcMs: 18 }) }),
    ]);
  });

  test("has each mark over its stall, with the time that they share", () => {
    const [mark] = slices(stallTrace(reportOf())).filter(({ cat }) => cat === "label");
    expect(mark).toMatchObject({ name: "parse", tid: 2, ts: 1_000_500, dur: 100_000, args: { overlapMs: 60 } });
  });

  test("counts the frames that the stalls drop, and names the report's own number", () => {
    const { traceEvents } = stallTrace(reportOf());
    const counted = traceEvents.filter(({ ph }) => ph === "C").map(({ ts, args }) => [ts, args["frames"]]);
    expect(counted).toEqual([
      [0, 0],
      [1_100_500, 5],
      [3_020_000, 5.2],
    ]);
    const labels = traceEvents.find(({ name }) => name === "process_labels");
    expect(labels?.args).toEqual({ labels: "5 of 600 frames dropped at 60 Hz, estimated" });
    const real = reportOf({ frames: { hz: 120, expected: 1200, dropped: 9, estimated: false } });
    expect(stallTrace(real).traceEvents.find(({ name }) => name === "process_labels")?.args).toEqual({
      labels: "9 of 1200 frames dropped at 120 Hz",
    });
  });

  test("puts several threads on one timeline that starts with the earliest report", () => {
    const late = reportOf({ startedAt: "2026-01-02T03:04:06.000Z", host: "node-worker" });
    const trace = stallTrace([late, reportOf()]);
    expect(slices(trace, 1)[0]?.ts).toBe(2_000_500);
    expect(slices(trace, 2)[0]?.ts).toBe(1_000_500);
    const names = trace.traceEvents.filter(({ name }) => name === "process_name").map(({ args }) => args["name"]);
    expect(names).toEqual(["importer (node-worker)", "importer (node)"]);
    expect(trace.otherData["startedAt"]).toBe("2026-01-02T03:04:05.000Z");
  });

  test("has no slices for a run without stalls", () => {
    const { traceEvents } = stallTrace(reportOf({ stalls: [], worstSecond: { startMs: 0, stalledMs: 0 } }));
    expect(traceEvents.map(({ name }) => name)).toEqual([
      "process_name",
      "process_labels",
      "thread_name",
      "dropped frames",
    ]);
  });

  test("survives JSON, with every script in labels", () => {
    const odd = 'say "hi" \\ twice\nthen 日本 🙂 </script>';
    const trace = stallTrace(reportOf({ label: odd, stalls: [stallOf({ marks: [{ label: odd, overlapMs: 1 }] })] }));
    expect(JSON.parse(JSON.stringify(trace))).toEqual(trace);
    expect(slices(trace).map(({ name }) => name)).toContain(odd);
  });

  test("changes nothing in the report, and keeps no part of it", () => {
    const report = reportOf();
    const before = structuredClone(report);
    const trace = stallTrace(report);
    expect(report).toEqual(before);
    const own = new Set<unknown>([...report.stalls, ...report.stalls.flatMap(({ scripts }) => scripts)]);
    for (const { args } of trace.traceEvents)
      for (const value of Object.values(args)) expect(own.has(value)).toBe(false);
  });

  test.each([
    [[], "reports must have a report: reports.length=0"],
    [null, "reports[0] must be a report of clearway/meter, version 1: kind=undefined, version=undefined"],
    [
      [reportOf(), { kind: "clearway-stalls", version: 2, stalls: [] }],
      "reports[1] must be a report of clearway/meter, version 1: kind=clearway-stalls, version=2",
    ],
    [reportOf({ startedAt: "soon" }), "reports[0].startedAt must be a time in ISO 8601: startedAt=soon"],
  ])("refuses what is not a report: %#", (value, message) => {
    expect(() => stallTrace(value as StallReport)).toThrow(new TypeError(message));
  });
});
