// SPDX-License-Identifier: MIT OR Apache-2.0
// What a report says about the family `remote`.
import { expect, test } from "vitest";
import { scenarioSection } from "../src/report/sections.js";
import { tablesOf } from "../src/report/tables.js";
import { verdictOf } from "../src/report/verdict.js";
import type { RunRecord } from "../src/run/record.js";
import { resultsOf } from "../src/run/results.js";
import { fullRecord } from "./full-record.js";

/** A run of the family alone. */
function run(): RunRecord {
  const { questions: _, ...whole } = fullRecord();
  const isOwn = ({ family }: { family: string }) => family === "remote";
  return { ...whole, profile: "full", scenarios: whole.scenarios.filter(isOwn), cells: whole.cells.filter(isOwn) };
}

test("the verdict compares a remote call with a bare request of NATS, and durable calls with BullMQ", () => {
  const record = run();
  expect(verdictOf(resultsOf(record), record)).toEqual([
    expect.stringMatching(
      /^A call to another process took [\d.]+ us through Clearway's remote pool in request mode, and a bare request of NATS took [\d.]+ us: .+\.$/,
    ),
    expect.stringMatching(
      /^With 1000 durable calls in flight, Clearway's remote pool made [\d.]+ a second, and BullMQ [\d.]+; the time of a call: .+\.$/,
    ),
    expect.stringMatching(
      /^A remote call cost its caller [\d.]+ us of processor time\. Beside a machine with the \d+ cores of this one, other machines help with tasks that compute for longer than [\d.\u202f]+ us\.$/,
    ),
  ]);
});

test("the verdict compares durable calls with a hand-written queue when BullMQ was not measured", () => {
  const record = run();
  for (const cell of record.cells) if (cell.mechanism === "bullmq") cell.rounds = [];
  expect(verdictOf(resultsOf(record), record)[1]).toMatch(", and hand-written work queue on JetStream ");
});

test("a table names the load and has the figures of a call", () => {
  const record = run();
  const results = resultsOf(record);
  const tables = tablesOf(results, record);
  expect(tables.map(({ scenario, load }) => [scenario, load])).toEqual([
    ["remote-call", "1 worker process, 64 in flight"],
    ["remote-durable", "1 worker process, 1\u202f000 in flight"],
  ]);
  expect(tables[0]!.columns.map(({ label }) => label)).toEqual([
    ...["p50", "p99", "in flight", "calls", "caller's CPU"],
    "against nats-request",
  ]);
  const { text } = scenarioSection(results, record, record.scenarios[0]!, tables);
  expect(text).toContain("round trip of one call, 1 worker process");
});
