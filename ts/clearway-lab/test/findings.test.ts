// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests the findings of the published experiments against records, and the pages that show them.
import { describe, expect, test } from "vitest";
import { findingText, outcomeCounts } from "../src/report/experiments/findings-text.js";
import { experimentsMarkdown } from "../src/report/experiments/markdown.js";
import { NO_FIGURE } from "../src/report/experiments/table.js";
import { experimentViews } from "../src/report/experiments/view.js";
import { type TestedFinding, testFinding } from "../src/run/findings.js";
import type { RunRecord } from "../src/run/record.js";
import { resultsOf } from "../src/run/record.js";
import type { ExperimentTable } from "../src/scenario/experiment.js";
import { EXPERIMENT, experimentRecord, figure, finding } from "./experiment-record.js";
import { cell, measured } from "./record.js";

const record = experimentRecord();
const tested = (more: Parameters<typeof finding>[0]) => testFinding(record, finding(more));

describe("a finding", () => {
  test("agrees if every round's value is within its bounds", () => {
    expect(tested({ min: 300, max: 320 })).toMatchObject({
      outcome: "agrees",
      number: 310,
      numbers: [300, 310, 320],
      unit: "ms",
    });
  });

  test("differs if every round's value is outside, and is open if the rounds disagree", () => {
    expect(tested({ max: 299 }).outcome).toBe("differs");
    expect(tested({ min: 321, max: 999 }).outcome).toBe("differs");
    expect(tested({ max: 310 }).outcome).toBe("open");
  });

  test("compares the rounds of two cells", () => {
    const ratio = tested({
      kind: "ratio",
      subject: figure("clearway-records"),
      reference: { mechanism: "worker-clone" },
      max: 0.01,
    });
    expect(ratio.outcome).toBe("agrees");
    expect(ratio.numbers).toEqual([2 / 500, 2.1 / 520, 1.9 / 480]);
    expect(ratio.unit).toBeUndefined();
  });

  test("compares a cell with the best of others in each round, and names the best by medians", () => {
    const among = ["worker-clone", "comlink"];
    const first = tested({ kind: "first", subject: figure("clearway-records"), among, max: 1 });
    expect(first).toMatchObject({ outcome: "agrees", best: "comlink" });
    expect(first.numbers).toEqual([2 / 5, 2.1 / 500, 1.9 / 5]);
  });

  test("divides the largest by the smallest of several", () => {
    const spread = tested({ kind: "spread", among: ["worker-clone", "direct"], max: 2 });
    expect(spread).toMatchObject({ outcome: "agrees", best: "direct" });
    expect(spread.numbers).toEqual([500 / 300, 520 / 310, 480 / 320]);
  });

  test("reads quantiles, means and extremes of samples in their unit", () => {
    const load = { perSecond: 1000, count: 1000, payloadBytes: 8, receiver: "idle" };
    const samples = measured({}, [10, 20, 30, 40]);
    const one = experimentRecord({ cells: [cell("stream", "direct", load, [samples])] });
    const value = (metric: string) =>
      testFinding(
        one,
        finding({ subject: { scenario: "stream", host: "node", mechanism: "direct", params: {}, metric } }),
      );
    expect(value("latency.p50").number).toBeCloseTo(20, 0);
    expect(value("latency.mean").number).toBeCloseTo(25, 0);
    expect(value("latency.min").number).toBeCloseTo(10, 0);
    expect(value("latency.max")).toMatchObject({ unit: "us" });
    expect(value("latency.max").number).toBeCloseTo(40, 0);
    expect(() => value("latency.p75")).toThrow("no such figure of samples: figure=p75");
  });

  test("from one round of a stream's latency counts only if it is clear of its bound by 1.5 times, or by 2.5 times for the p99", () => {
    const load = { perSecond: 1000, count: 1000, payloadBytes: 8, receiver: "idle" };
    const outcomeOf = (us: number, metric: string, rounds = 1) => {
      const cells = [10, us].map((each, at) =>
        cell("stream", at === 0 ? "lock" : "direct", load, Array(rounds).fill(measured({}, [each]))),
      );
      const subject = { scenario: "stream", host: "node" as const, mechanism: "direct", params: {}, metric };
      const ratio = finding({ kind: "ratio", subject, reference: { mechanism: "lock" }, min: 0, max: 1 });
      return testFinding(experimentRecord({ cells }), ratio).outcome;
    };
    expect([6, 8, 14, 16].map((us) => outcomeOf(us, "latency.p50"))).toEqual(["agrees", "open", "open", "differs"]);
    expect([3.8, 5, 22, 27].map((us) => outcomeOf(us, "latency.p99"))).toEqual(["agrees", "open", "open", "differs"]);
    expect(outcomeOf(8, "latency.p50", 2)).toBe("agrees");
  });

  test("is not measured, with the reason, if a cell is missing, could not run or shares no round", () => {
    expect(tested({ subject: figure("worker-json") })).toMatchObject({
      outcome: "not measured",
      reason: "students/worker-json on node: too long a text: use fewer rows",
    });
    expect(tested({ subject: figure("direct", { host: "jvm" }) }).reason).toMatch("it was not planned");
    expect(tested({ subject: figure("direct", { metric: "no such metric" }) }).reason).toBe(
      "no round has all its figures",
    );
    const late = cell("students", "direct", { rows: 2 }, [measured({ longestStall: 1 })]);
    const rounds = late.rounds.map((round) => ({ ...round, round: 9 }));
    const apart = experimentRecord({ cells: [...record.cells, { ...late, rounds }] });
    const ratio = finding({ kind: "ratio", reference: { params: { rows: 2 } } });
    expect(testFinding(apart, ratio).reason).toBe("no round has all its figures");
  });

  test("is not measured if the reference is zero or has another unit", () => {
    const zero = cell("students", "comlink", { rows: 3 }, [measured({ longestStall: 0 })]);
    const one = cell("students", "direct", { rows: 3 }, [measured({ longestStall: 2 }, [5])]);
    const small = experimentRecord({ cells: [zero, one] });
    const byZero = finding({ kind: "ratio", reference: { mechanism: "comlink" } });
    expect(testFinding(small, byZero)).toMatchObject({ outcome: "not measured", numbers: [] });
    const byOther = finding({ kind: "ratio", reference: { metric: "latency.p50" } });
    expect(testFinding(small, byOther).reason).toBe("ms cannot be compared with us");
  });

  test("leaves out the second cell of an A/A pair", () => {
    const clone = tested({ subject: figure("worker-clone") });
    expect(clone.numbers).toEqual([500, 520, 480]);
  });
});

describe("the text of a finding", () => {
  test("has the claim, the authors' figure, ours with its range, and the reason of the outcome", () => {
    const why = { agrees: "Because.", differs: "Not because." };
    expect(findingText(tested({ authors: "63 frames", min: 20, max: 999, why }))).toBe(
      "A claim (authors: 63 frames; agrees from 20 to 999 ms; here: 310 ms (300 to 320 in 3 rounds) in Node). Because.",
    );
    expect(findingText(tested({ max: 1, why }))).toMatch(/Not because\.$/);
    expect(findingText(tested({ max: 310, why }))).toMatch(/\)\.$/);
    expect(findingText(tested({ max: 1 }))).toMatch(/in Node\)\. The cause is not known\.$/);
  });

  test("names the bounds: both, the upper one of an order, or the only number that agrees", () => {
    expect(findingText(tested({ max: 1 }))).toMatch("(agrees up to 1 ms; ");
    expect(findingText(tested({ min: 310, max: 310 }))).toMatch("(agrees at 310 ms; ");
    const ratio = { kind: "ratio", reference: { mechanism: "worker-clone" } } as const;
    expect(findingText(tested({ ...ratio, min: 0.5, max: 2 }))).toMatch("(agrees from 1/2 to 2; ");
  });

  test("has microseconds on the page as its tables have them", () => {
    const claims = [finding({ authors: "23,182 us" })];
    const page = experimentsMarkdown(experimentRecord({ experiments: [{ ...EXPERIMENT, findings: claims }] }));
    expect(page).toContain("authors: 23,182 µs;");
  });

  test("shows a ratio below one as its inverse", () => {
    const ratio = tested({
      kind: "ratio",
      subject: figure("clearway-records"),
      reference: { mechanism: "worker-clone" },
    });
    expect(findingText(ratio)).toMatch("here: 1/250 (");
  });

  test("counts the findings by outcome, and our own expectations beside them", () => {
    const lines = [tested({ max: 1 }), tested({ min: 1, max: 999 })];
    const line = (each: TestedFinding, ofAuthors = true) => ({
      outcome: each.outcome,
      text: findingText(each),
      ofAuthors,
    });
    const both = [line(lines[0]!, false), line(lines[1]!), line(lines[0]!)];
    expect(outcomeCounts(2, both)).toBe(
      "2 published experiments, 2 tests of the authors' findings: 1 agree, 1 differ, 0 open, 0 not measured. " +
        "Beside them, 1 expectation of our own: 0 confirmed, 1 refuted, 0 open, 0 not measured.",
    );
  });
});

const view = (table: Partial<ExperimentTable>, run: RunRecord = record) => {
  const whole: ExperimentTable = { ...EXPERIMENT.tables[0]!, ...table };
  const experiments = [{ ...EXPERIMENT, tables: [whole] }];
  const shown = { ...run, experiments };
  return experimentViews(resultsOf(shown), shown)[0]!.tables[0]!;
};

describe("a table of an experiment", () => {
  test("has the authors' rows first, then ours in the given order, and names the ways that have no row, with the reasons", () => {
    const { head, rows, notes, title } = view({});
    expect(title).toBe("A million students, Node");
    expect(head).toEqual(["mechanism", "total (ms)", "stall (ms)"]);
    expect(rows[0]).toEqual({
      title: "authors: Dart | isolate",
      authors: true,
      clearway: false,
      cells: ["1\u202f140", NO_FIGURE],
    });
    expect(rows.slice(1).map(({ cells }) => cells[1])).toEqual(["2", "5", "310", "500"]);
    expect(rows[1]).toMatchObject({ clearway: true, authors: false });
    expect(notes).toEqual([
      "no row for worker, JSON text: too long a text: use fewer rows",
      "Dart | isolate: Dart is not installed",
    ]);
  });

  const sizes = [1 << 20, 8 << 20].map((bytes) =>
    cell("memset-published", "c", { bytes, memory: "warm", repetitions: 5 }, [
      { ...measured({}, [bytes === 1 << 20 ? 1000 : 20_000]), values: { pageFaults: { unit: "count", value: 3 } } },
    ]),
  );
  const bySize = {
    scenario: "memset-published",
    params: {},
    by: "bytes",
    metric: "latency.mean",
    unit: "us",
    columns: undefined as never,
    order: undefined as never,
  };

  test("has a column for each value of a parameter, and the sizes that fit a frame", () => {
    const authors = [{ title: "A", figures: { "8388608": 23182 }, why: "w" }];
    const { head, rows } = view({ ...bySize, frames: true, authors }, experimentRecord({ cells: sizes }));
    expect(head).toEqual(["mechanism", "1 MB (µs)", "8 MB (µs)", "fits a frame, 60 Hz", "fits a frame, 120 Hz"]);
    expect(rows[0]!.cells).toEqual([NO_FIGURE, "23\u202f182", NO_FIGURE, NO_FIGURE]);
    expect(rows[1]!.cells.slice(0, 2)).toEqual([
      "1\u202f000",
      expect.stringMatching(/^(20\u202f000|19\u202f99\d|20\u202f00\d)$/),
    ]);
    expect(rows[1]!.cells.slice(2)).toEqual([
      expect.stringMatching(/^~ 7\.\d+ MB$/),
      expect.stringMatching(/^~ 4\.\d+ MB$/),
    ]);
  });

  test("has a row for each further parameter in which the cells of a mechanism differ, but not for amounts and expected results", () => {
    const fresh = cell("memset-published", "c", { bytes: 1 << 20, memory: "fresh", repetitions: 9, checksum: 3 }, [
      measured({}, [5]),
    ]);
    const { rows } = view({ ...bySize, authors: [] }, experimentRecord({ cells: [...sizes, fresh] }));
    expect(rows.map(({ title }) => title)).toEqual([
      "(5) all in C, mapped memory; memory warm",
      "(5) all in C, mapped memory; memory fresh",
    ]);
    expect(rows[1]!.cells[1]).toBe(NO_FIGURE);
  });

  test("has the units of the measurements, whatever the scenario says, and refuses a column with several", () => {
    const wrong = { ...bySize, unit: "ms", authors: [] };
    const { head } = view(wrong, experimentRecord({ cells: sizes }));
    expect(head.slice(1)).toEqual(["1 MB (µs)", "8 MB (µs)"]);
    const faults = view({ ...wrong, metric: "pageFaults" }, experimentRecord({ cells: sizes }));
    expect(faults.head.slice(1)).toEqual(["1 MB", "8 MB"]);
    const other = cell("memset-published", "koffi-held", { bytes: 1 << 20, memory: "warm" }, [
      { ...measured({}), values: { latency: { unit: "bytes", value: 3 } } },
    ]);
    expect(() => view(wrong, experimentRecord({ cells: [...sizes, other] }))).toThrow(
      "the column 1 MB has several units: us, bytes",
    );
  });

  test("has rows of the named mechanisms only", () => {
    const { rows, notes } = view({ mechanisms: ["direct"], authors: [] });
    expect(rows.map(({ title }) => title)).toEqual(["created on the main thread"]);
    expect(notes).toEqual([]);
  });

  test("has the published verdict on each row", () => {
    const probed = { longestStall: 8, droppedFrames60: 0, lagMean: 2, probes: 564 };
    const jank = { longestStall: 1001, droppedFrames60: 63, lagMean: 500, probes: 2 };
    const cells = [
      cell("students", "direct", { rows: 1 }, [measured(jank)]),
      cell("students", "comlink", { rows: 1 }, [measured(probed)]),
    ];
    const { head, rows } = view(
      { jank: true, order: undefined as never, params: { rows: 1 } },
      experimentRecord({ cells }),
    );
    expect(head.at(-1)).toBe("verdict");
    expect(rows.map(({ cells: own }) => own.at(-1))).toEqual([
      NO_FIGURE,
      "Jank: 63 frames dropped, max lag 1001 ms",
      "Smooth: max lag 8 ms, average 2 ms, 564 probes",
    ]);
  });
});

describe("the pages of the experiments", () => {
  test("as Markdown have the question, the findings, the tables and what is left out", () => {
    const page = experimentsMarkdown(record);
    expect(page).toMatch(/^Run A, 2026-01-02: 12 of 12 measurements in 1 min.* A CPU, 8 cores/);
    for (const part of [
      "## 1. Students and jank",
      "**Does a worker save frames?**",
      "The authors measured Dart on a desktop.",
      "### A million students, Node",
      "| *authors: Dart \\| isolate* |",
      "- One billion rows: they need 21 GB",
      "1 published experiment, 1 test of the authors' findings: 1 agree, 0 differ, 0 open, 0 not measured.",
      "**Agrees:**\n\n- Moved records block less than clones (authors: not at all; agrees up to 1/10; here: 1/250",
    ])
      expect(page).toContain(part);
    // Every row of a table has as many cells as its head.
    const bars = page
      .split("\n")
      .filter((line) => line.startsWith("|"))
      .map((line) => line.replaceAll("\\|", "").split("|").length);
    expect(new Set(bars)).toEqual(new Set([5]));
  });

  test("as Markdown are refused for a run without experiments", () => {
    const { experiments: _, ...quick } = record;
    expect(() => experimentsMarkdown(quick)).toThrow(
      "the run has no experiments: profile=published. Run clearway lab --profile published",
    );
  });
});
