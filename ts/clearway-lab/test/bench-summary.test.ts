// SPDX-License-Identifier: MIT OR Apache-2.0
// The summary and the report of a user's scenario, from a record with known figures.
import { stripVTControlCharacters } from "node:util";
import { JSDOM } from "jsdom";
import { describe, expect, test } from "vitest";
import { planBench } from "../src/bench/plan.js";
import { benchSummary } from "../src/cli/bench-summary.js";
import type { Measurement } from "../src/protocol/message.js";
import { reportHtml } from "../src/report/report.js";
import { type RecordedCell, type RunRecord, recordedCell } from "../src/run/record.js";
import { resultsOf } from "../src/run/results.js";
import { encodeHistogram, histogramOf } from "../src/statistics/histogram.js";
import { record } from "./record.js";

/** A measurement of a way whose calls take `callMs`, and whose call under the meter blocks the main thread for `stallMs`. */
function measurement(callMs: number, stallMs: number): Measurement {
  const ns = new Array(50).fill(callMs * 1e6);
  const frames = (hz: number) => ({ unit: "frames" as const, value: Math.floor((stallMs * hz) / 1000) });
  return {
    samples: { call: { unit: "ms", n: ns.length, hdr: encodeHistogram(histogramOf(ns)) } },
    values: {
      longestStall: { unit: "ms", value: Math.max(1, stallMs) },
      droppedFrames60: frames(60),
      droppedFrames120: frames(120),
      hitchRatio60: { unit: "ms/s", value: 0 },
    },
    timeline: { totalMs: callMs, stalls: stallMs > 0 ? [{ at: 0, ms: stallMs }] : [] },
    result: null,
    notes: [],
  };
}

type Figures = Record<string, [callMs: number, stallMs: number] | string>;

/** Returns the record of a run with five rounds. A text is the failure of a way. */
function run(ways: Figures, title?: string, name = "bench"): RunRecord {
  const info = {
    inputs: ["large"],
    ways: Object.keys(ways),
    hasCheck: true,
    ...(title === undefined ? {} : { title }),
  };
  const callMs = (way: string) => (typeof ways[way] === "string" ? undefined : 1);
  const [reference = ""] = info.ways;
  const { scenario, cells, questions } = planBench(info, { name, reference, timeMs: 1, callMs });
  const recorded = cells.map((planned): RecordedCell => {
    const cell = recordedCell(planned);
    const figures = ways[cell.mechanism];
    if (typeof figures === "string") return { ...cell, failure: figures };
    const [call, stall] = figures as [number, number];
    const rounds = [0, 1, 2, 3, 4].map((round) => ({
      round,
      position: round,
      tookMs: 1,
      measurement: measurement(call, stall),
      machineStallMs: 0,
    }));
    return { ...cell, rounds };
  });
  const { expected: _, mechanisms: _mechanisms, profiles: _profiles, ...described } = scenario;
  return {
    ...record(),
    profile: "bench",
    command: "clearway bench",
    scenarios: [described],
    questions,
    cells: recorded,
    budgetEnded: false,
    interrupted: false,
  };
}

const summary = (of: RunRecord, columns: number) =>
  // The colours of a terminal are not part of the width.
  stripVTControlCharacters(benchSummary(resultsOf(of), of, columns));

const ways: Figures = { direct: [100, 100], pool: [120, 0], broken: "the first call threw Error: no" };

describe("the summary of a scenario", () => {
  test("has the table, the failed way, the frames and the verdict", () => {
    const text = summary(run(ways), 100);
    expect(text).toMatch(/direct +100 +100 +100 +0 +6 +12 +reference/);
    expect(text).toMatch(/pool +120 +120 +1 +0 +0 +0 +1\.2 times/);
    expect(text).toMatch("- broken with input large failed: the first call threw Error: no");
    expect(text).toMatch("Input large: one call drops 6 frames with direct and none with pool at 60 Hz.");
    expect(text).toMatch("1 question, 2 comparisons: 2 decided, 0 without a difference, 0 undecided.");
    expect(text).toMatch(
      "- Input large, against direct:\n  pool, time of a call: 120 ms against 100 ms, 1.2 times, decided (1.2 to 1.2 times in 5 rounds)\n  pool, longest stall: 1 ms against 100 ms, 1/100, decided (1/100 to 1/100 in 5 rounds)",
    );
  });

  test.each([100, 80, 50])("fits into %i columns", (columns) => {
    const long = { "a way with a very long name": [100, 100], ...ways } satisfies Figures;
    for (const line of summary(run(long), columns).split("\n")) expect(line.length).toBeLessThanOrEqual(columns);
  });

  test("continues a table below if a narrow terminal has no room for all columns", () => {
    const narrow = summary(run({ direct: [100, 100], "a-pool-of-workers": [120, 0] }), 50);
    expect(narrow).toMatch(/direct +100 +100 +100 +0 +6\n/);
    expect(narrow).toMatch(/direct +12 +reference\n/);
  });

  test("says that no way drops a frame, and that one way is not compared", () => {
    const text = summary(run({ only: [2, 0] }), 100);
    expect(text).toMatch("Input large: no way drops a frame at 60 Hz on the main thread.");
    expect(text).toMatch("only is the only way that was measured, so nothing is compared.");
  });

  test("says that nothing was measured if every way failed", () => {
    expect(summary(run({ direct: "no" }), 100)).toMatch("Nothing was measured.");
  });
});

describe("the report of a scenario", () => {
  const hostile = "<script>alert(1)</script>";
  const page = (of: RunRecord) => new JSDOM(reportHtml(resultsOf(of), of)).window.document;

  test("shows the ways, not the lab's mechanisms, and how to repeat the run", () => {
    const found = page(run(ways, "Which way?"));
    const text = found.body.textContent ?? "";
    expect(found.querySelector(".kicker")?.textContent).toBe("Clearway bench");
    expect(found.querySelector("section h3")?.textContent).toBe("Which way?");
    expect(text).toMatch("one call drops 6 frames with direct and none with pool");
    expect(text).toMatch("A ratio is the way's figure divided by the other one: below 1 is faster.");
    expect(text).toMatch(`clearway bench --seed ${record().seed}`);
    expect(text).not.toMatch(/--profile|clearway lab|Clearway's figure/);
    expect([...found.querySelectorAll("section table thead th")].map((head) => head.textContent)[0]).toBe("way");
  });

  test.each(["students", "upload", "stream", "firehose", "channel-worker", "pool", "works"])(
    "of a file that is called like the lab's scenario %s shows the user's figures",
    (name) => {
      const of = run(ways, undefined, name);
      expect(summary(of, 100)).toMatch(/direct +100 +100 +100 +0 +6 +12 +reference/);
      expect(page(of).querySelector("section h4")?.textContent).toBe("Time of a call, input large");
    },
  );

  test("escapes the user's names and errors", () => {
    const found = page(run({ direct: [1, 0], [hostile]: [2, 0], other: hostile }, hostile));
    const scripts = [...found.querySelectorAll("script")].map((script) => script.textContent ?? "");
    expect(scripts.filter((text) => text.startsWith("alert"))).toEqual([]);
    expect(found.querySelector("section h3")?.textContent).toBe(hostile);
  });
});
