// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests the readers of Chromium's traces and of V8's profiles. The events have the form of a recorded trace of Chromium 156.
import { describe, expect, test } from "vitest";
import { profileSamples, profileStacks } from "../../src/jank/profile.js";
import { findDocument, type TraceEvent, traceSamples, traceSpans } from "../../src/jank/trace.js";

const at = { pid: 7, tid: 7 };
const MARK: TraceEvent = {
  ...at,
  name: "clearway-jank-x",
  cat: "blink.user_timing",
  ph: "I",
  ts: 5_050_000,
  args: { data: { startTime: 50 } },
};
const document = { ...at, zeroUs: 5_000_000 };
const work = (name: string, ts: number, dur: number, rest: Partial<TraceEvent> = {}): TraceEvent => ({
  ...at,
  name,
  cat: "devtools.timeline",
  ph: "X",
  ts,
  dur,
  ...rest,
});

describe("a document in a trace", () => {
  test("is found by its mark, which joins the clocks", () => {
    expect(findDocument([work("Layout", 1, 1), MARK], "clearway-jank-x")).toEqual(document);
  });

  test("is not found by the mark of another document, or an event of that name", () => {
    expect(findDocument([MARK], "clearway-jank-y")).toBeUndefined();
    expect(findDocument([{ ...MARK, cat: "devtools.timeline" }], "clearway-jank-x")).toBeUndefined();
    expect(findDocument([{ ...MARK, args: {} }], "clearway-jank-x")).toBeUndefined();
  });
});

describe("the samples of a trace", () => {
  const profile = (id: string, tid = 7): TraceEvent => ({
    ...at,
    tid,
    id,
    name: "Profile",
    ph: "P",
    ts: 5_000_000,
    args: { data: { startTime: 5_100_000 } },
  });
  const chunk = (id: string, data: object): TraceEvent => ({
    ...at,
    tid: 99,
    id,
    name: "ProfileChunk",
    ph: "P",
    ts: 1,
    args: { data: data as never },
  });
  const nodes = [
    { id: 1, callFrame: { functionName: "(root)" } },
    { id: 2, parent: 1, callFrame: { functionName: "main", url: "http://a/app.js", lineNumber: 4, columnNumber: 8 } },
  ];

  test("have stack, line and time on the document's clock, over several chunks", () => {
    const events = [
      profile("0x1"),
      chunk("0x1", {
        cpuProfile: { nodes, samples: [2, 2] },
        timeDeltas: [1000, 2000],
        lines: [6, 7],
        columns: [3, 0],
      }),
      chunk("0x1", {
        cpuProfile: { nodes: [{ id: 3, parent: 2, callFrame: { functionName: "setTimeout" } }], samples: [3, 1] },
        timeDeltas: [500, 500],
        lines: [8, 0],
      }),
    ];
    const samples = traceSamples(events, document, 100);
    const main = { functionName: "main", url: "http://a/app.js", line: 5, column: 9 };
    expect(samples).toEqual([
      { atMs: 1, ms: 2, stack: [main], state: "script", line: 6, column: 3 },
      { atMs: 3, ms: 0.5, stack: [main], state: "script", line: 7 },
      { atMs: 3.5, ms: 0.5, stack: [main, { functionName: "setTimeout", url: "" }], state: "script", line: 8 },
      { atMs: 4, ms: 0, stack: [], state: "native" },
    ]);
  });

  test("are those of the document's own thread", () => {
    const data = { cpuProfile: { nodes, samples: [2] }, timeDeltas: [0] };
    const events = [profile("0x1", 8), chunk("0x1", data), profile("0x2"), { ...chunk("0x2", data), pid: 8 }];
    expect(traceSamples(events, document, 0)).toEqual([]);
  });

  test("survive chunks without data, and unknown nodes", () => {
    const events = [profile("0x1"), chunk("0x1", {}), chunk("0x1", { cpuProfile: { samples: [5] }, timeDeltas: [] })];
    expect(traceSamples(events, document, 0)).toEqual([]);
  });
});

describe("the spans of a trace", () => {
  test("exclude the work inside of them, and scripts", () => {
    const events = [
      work("ParseHTML", 5_010_000, 50_000),
      work("EvaluateScript", 5_020_000, 30_000),
      work("Layout", 5_030_000, 10_000),
      work("MinorGC", 5_035_000, 2_000),
    ];
    expect(traceSpans(events, document, 10)).toEqual([
      { kind: "parse", name: "ParseHTML", startMs: 0, endMs: 10 },
      { kind: "layout", name: "Layout", startMs: 20, endMs: 25 },
      { kind: "gc", name: "MinorGC", startMs: 25, endMs: 27 },
      { kind: "layout", name: "Layout", startMs: 27, endMs: 30 },
      { kind: "parse", name: "ParseHTML", startMs: 40, endMs: 50 },
    ]);
  });

  test("are those of the document's own thread", () => {
    expect(
      traceSpans([work("Layout", 5_000_000, 1, { tid: 8 }), work("Layout", 5_000_000, 1, { pid: 8 })], document, 0),
    ).toEqual([]);
  });
});

describe("a profile", () => {
  test("of Node has samples with the hottest line of each function", () => {
    const profile = {
      startTime: 1_000_000,
      nodes: [
        { id: 1, callFrame: { functionName: "(root)" }, children: [2, 3] },
        {
          id: 2,
          callFrame: { functionName: "work", url: "file:///a.mjs", lineNumber: 1, columnNumber: 0 },
          positionTicks: [
            { line: 3, ticks: 5 },
            { line: 4, ticks: 9 },
          ],
        },
        { id: 3, callFrame: { functionName: "(garbage collector)" } },
      ],
      samples: [2, 3],
      timeDeltas: [2000, 1000],
    };
    expect(profileSamples(profile, 1_000_000)).toEqual([
      {
        atMs: 2,
        ms: 1,
        stack: [{ functionName: "work", url: "file:///a.mjs", line: 2, column: 1 }],
        state: "script",
        line: 4,
      },
      { atMs: 3, ms: 0, stack: [], state: "gc" },
    ]);
  });

  test("with a cycle, or a missing parent, has stacks all the same", () => {
    const call = (functionName: string) => ({ callFrame: { functionName, url: "http://a/" } });
    const stacks = profileStacks([
      { id: 1, parent: 2, ...call("a") },
      { id: 2, parent: 1, ...call("b") },
      { id: 3, parent: 9, ...call("c") },
    ]);
    expect(stacks.get(1)!.stack.map(({ functionName }) => functionName)).toEqual(["b", "a"]);
    expect(stacks.get(3)!.stack.map(({ functionName }) => functionName)).toEqual(["c"]);
  });
});
