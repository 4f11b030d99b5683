// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests the picture of the ways of a live stream in all languages, and the columns for lost and reordered events.
import { describe, expect, test } from "vitest";
import { experimentsMarkdown, swiftStreamMarkdown } from "../src/report/experiments/markdown.js";
import { waysView } from "../src/report/experiments/ways.js";
import { withAdded } from "../src/run/kept.js";
import { type RecordedCell, type RunRecord, resultsOf } from "../src/run/record.js";
import { loadExperiments } from "../src/scenario/experiment.js";
import { loadScenarios } from "../src/scenario/scenario.js";
import { cell, measured, record } from "./record.js";

const scenarios = loadScenarios();
const closed = { loop: "closed", perSecond: 60, count: 2000, payloadBytes: 8, receiver: "idle" };
const { loop: _, ...jvmLoad } = closed;
const stream = (us: number, counts: Record<string, number> = {}) => ({
  ...measured(
    {},
    Array.from({ length: 2000 }, (_, i) => us + i / 1000),
  ),
  values: Object.fromEntries(Object.entries(counts).map(([name, value]) => [name, { unit: "events" as const, value }])),
});

const swift = (mechanism: string, us: number, counts: Record<string, number>): RecordedCell =>
  cell("stream-published-swift", mechanism, closed, [stream(us, counts)], { host: "swift" });

const cells = [
  cell("stream-published", "direct", closed, [stream(1)]),
  cell("published-stream-jvm", "direct", jvmLoad, [stream(2)], { host: "jvm" }),
  swift("delegate", 3, { reordered: 0, lost: 0 }),
  swift("actor-task", 30, { reordered: 17, lost: 0 }),
  swift("async-stream-newest-1", 40, { reordered: 0, lost: 23 }),
  cell("stream-published-swift", "combine-queue", closed, [], { host: "swift", unavailable: "not on Linux" }),
];

function recordOf(own: RecordedCell[]): RunRecord {
  const { node } = record().hosts;
  const hosts = { node: node!, jvm: { ...node!, host: "jvm" }, swift: { ...node!, host: "swift" } };
  return record({ cells: own, hosts });
}

const view = (own: RecordedCell[]) => waysView(resultsOf(recordOf(own)), recordOf(own));

describe("the ways of a live stream", () => {
  test("bring the languages together that have the same load, each by its own mechanism", () => {
    const found = view(cells);
    expect(found?.hosts).toEqual(["node", "jvm", "swift"]);
    expect(found?.load).toBe("60 events/s, closed loop, stamped when sent");
    const [direct, ...others] = found?.rows ?? [];
    expect(direct?.points.map(({ host, title }) => [host, title])).toEqual([
      ["node", "direct call"],
      ["jvm", "direct call"],
      ["swift", "delegate: a direct call"],
    ]);
    expect(others.map(({ title }) => title)).toEqual(["actor"]);
  });

  test("are no picture when only one language has the load", () => {
    expect(view(cells.filter(({ host }) => host === "swift"))).toBeUndefined();
    const open = { ...closed, loop: "open" };
    expect(view([cell("stream-published", "direct", open, [stream(1)]), cells[2]!])).toBeUndefined();
  });

  test("name mechanisms that exist", () => {
    const known = (scenario: string) =>
      scenarios.find(({ name }) => name === scenario)!.mechanisms.map(({ name }) => name);
    expect(known("stream-published-swift")).toEqual(
      expect.arrayContaining(["delegate", "delegate-nslock", "dispatch-queue", "async-stream", "clearway-stream"]),
    );
  });
});

describe("the page of a stream in Swift", () => {
  const whole = recordOf(cells);

  test("fills the page of the stream with its table, smallest p99 first", () => {
    const text = swiftStreamMarkdown(whole);
    expect(text).toMatch(
      "| mechanism | p50 (µs) | p90 (µs) | p99 (µs) | max (µs) | reordered (events) | lost (events) |",
    );
    const rows = text.split("\n").filter((line) => line.startsWith("| ") && !line.startsWith("| mechanism"));
    expect(rows.map((line) => line.split(" | ")[0])).toEqual([
      "| delegate: a direct call",
      "| actor method, a task an event",
      "| actor reads AsyncStream, newest 1",
    ]);
    expect(text).toMatch("- no row for Combine, on a queue: not on Linux");
  });

  test("names the added run that measured rows of it, and no other", () => {
    const run = { ...whole, startedAt: "2026-02-03T00:00:00.000Z" };
    const others = { ...run, startedAt: "2026-02-04T00:00:00.000Z", cells: cells.slice(0, 2) };
    const text = swiftStreamMarkdown(withAdded(whole, [{ ...run, cells: cells.slice(3, 4) }, others]));
    expect(text).toMatch(/\n\nRun B, 2026-02-03: .* cores, .*\.\n\n60 messages/);
    expect(text).not.toContain("2026-02-04");
    expect(text).toContain("| actor method, a task an event (run B) |");
  });

  test("has the table of all languages in the third experiment", () => {
    const experiments = loadExperiments(scenarios).filter(({ number }) => number === 3);
    const published = { ...whole, experiments };
    const text = experimentsMarkdown(published);
    expect(text).toMatch("### Which way, in which language: 60 events/s, closed loop, stamped when sent");
    expect(text).toMatch("| way | Node, p50 (µs) | Node, p99 (µs) | JVM, p50 (µs) |");
  });
});
