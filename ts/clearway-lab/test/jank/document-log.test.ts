// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import { DocumentLog } from "../../src/jank/document-log.js";
import { isReport, isStall } from "../../src/jank/message.js";
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
