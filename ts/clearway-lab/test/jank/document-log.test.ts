// SPDX-License-Identifier: MIT OR Apache-2.0
// The log of a page's messages, and the record that is made of it.
import { describe, expect, test } from "vitest";
import { DocumentLog, type PageDocument } from "../../src/jank/document-log.js";
import { isReport, isStall } from "../../src/jank/message.js";
import { pageRun } from "../../src/jank/page-result.js";
import { stall } from "./evidence.js";

const BEGIN = { type: "begin", id: "a", url: "http://a.test/", beginMs: 10, originMs: 1_700_000_000_000 };
const STALL = { ...stall(), marks: [] };
const SCRIPT = {
  startMs: 30,
  endMs: 90,
  url: "",
  functionName: "f",
  invoker: "",
  charPosition: -1,
  layoutMs: 0,
  pauseMs: 0,
};
const REPORT = {
  kind: "clearway-stalls",
  version: 1,
  durationMs: 100,
  lagMeanMs: 0,
  stalls: [STALL],
  sources: [],
  frames: { hz: 60, dropped: 0, expected: 6, estimated: false },
};

function log(...messages: unknown[]): DocumentLog {
  const made = new DocumentLog(() => 0);
  for (const message of messages) made.receive(typeof message === "string" ? message : JSON.stringify(message));
  return made;
}

describe("the log of a page", () => {
  test("has its documents, with times from the start of the meter", () => {
    const { documents } = log(
      BEGIN,
      { type: "stall", id: "a", stall: STALL },
      { type: "frame", id: "a", scripts: [SCRIPT] },
      { type: "report", id: "a", report: REPORT },
    );
    expect(documents).toHaveLength(1);
    expect(documents[0]).toMatchObject({
      wallMs: 1_700_000_000_010,
      stalls: [STALL],
      scripts: [{ startMs: 20, endMs: 80 }],
      report: { durationMs: 100 },
    });
  });

  test.each([
    "no JSON",
    "null",
    "[]",
    `{"type":"begin"}`,
    { ...BEGIN, id: 5 },
    { ...BEGIN, url: null },
    { ...BEGIN, beginMs: "x" },
    { ...BEGIN, originMs: 1e300 },
    { type: "stall", id: "b", stall: STALL },
  ])("ignores what begins no document: %j", (message) => {
    expect(log(message).documents).toEqual([]);
  });

  test.each([
    { type: "stall", id: "a" },
    { type: "stall", id: "a", stall: { ...STALL, lengthMs: null } },
    { type: "stall", id: "a", stall: { ...STALL, stacks: [{ frames: [1] }] } },
    { type: "frame", id: "a", scripts: {} },
    { type: "frame", id: "a", scripts: [null, { ...SCRIPT, url: 5 }] },
    { type: "report", id: "a", report: { ...REPORT, stalls: [null] } },
    { type: "report", id: "a", report: { ...REPORT, frames: null } },
    { type: "report", id: "a", report: null },
  ])("ignores a wrong message of a document: %j", (message) => {
    expect(log(BEGIN, message).documents[0]).toMatchObject({ stalls: [], scripts: [], report: undefined });
  });

  test("keeps a bounded number of documents and stalls", () => {
    const made = log(BEGIN);
    for (let i = 0; i < 2000; i++) made.receive(JSON.stringify({ ...BEGIN, id: `d${i}` }));
    const text = JSON.stringify({ type: "stall", id: "a", stall: STALL });
    for (let i = 0; i < 20_100; i++) made.receive(text);
    expect(made.documents).toHaveLength(1000);
    expect(made.documents[0]!.stalls).toHaveLength(20_000);
  });
});

test("what the meter makes is accepted", () => {
  expect(isStall(STALL)).toBe(true);
  expect(isReport(REPORT)).toBe(true);
});

// The record of a run in a browser without a trace, whose page did not answer at the end.

const document = (id: string, wallMs: number): PageDocument => ({
  ...{ id, url: `http://a.test/${id}`, beginMs: 5, wallMs, stalls: [], scripts: [], report: undefined, heardMs: 0 },
});

const unanswered = (silentMs: [number, number]) =>
  pageRun({
    end: { outcome: "timeout", message: "the limit of 30 s was reached" },
    documents: [document("first", 100_000), document("second", 101_000)],
    ...{ starts: [], events: [], isTraced: false, silentMs, loaded: new Set<string>(), local: false, notes: [] },
  });

test("a page's silence until the end is an open stall of its last document", async () => {
  const { stalls, figures, notes } = await unanswered([101_500, 105_500]);
  expect(stalls).toMatchObject([{ startMs: 1500, lengthMs: 4000, open: true, cause: { kind: "unknown" } }]);
  expect(figures.longestMs).toBe(4000);
  expect(notes).toContain(
    "2 of 2 documents ended without a report: their last stall is unknown, or known from the page's silence alone",
  );
});

test("the time since the last answer of a page that answers is no stall", async () => {
  expect((await unanswered([105_480, 105_500])).stalls).toEqual([]);
});
