// SPDX-License-Identifier: MIT OR Apache-2.0
// The trend of kept runs: which ratios belong together, and which changes are marked.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { changesOf } from "../../src/records/change.js";
import { keep } from "../../src/records/keep.js";
import { type FoundRecord, readRecords } from "../../src/records/read-records.js";
import { trendOf } from "../../src/records/trend.js";
import type { Trend, TrendPoint, TrendRun } from "../../src/records/trend-data.js";
import type { RunRecord } from "../../src/run/record.js";
import { encodeHistogram, histogramOf } from "../../src/statistics/histogram.js";
import { record } from "../record.js";
import { askedRecord, type Fixture, Scratch } from "./kept-record.js";

const scratch = new Scratch();
afterAll(() => rmSync(scratch.path, { recursive: true, force: true }));

/** Returns records as if they had been read, in this order. */
function found(...records: RunRecord[]): FoundRecord[] {
  return records.map((each, at) => ({ folder: `r/${at}`, run: { file: `r/${at}/record.json.gz`, record: each } }));
}

const runs = (count: number): TrendRun[] =>
  Array.from({ length: count }, (_, at) => ({
    ...{ folder: `r/${at}`, startedAt: `2026-01-0${at + 1}T00:00:00Z`, profile: "quick", commit: `c${at}` },
    ...{ clearway: "1", lab: "1", versions: { "runtime of node": at < 2 ? "v20" : "v24" } },
  }));

interface Given extends Partial<TrendPoint> {
  ratio: number;
}

/** Returns the changes of a series, as `RUN<AGAINST VERDICT`. An interval is 2 % to each side, unless it is given. */
function changes(given: Given[], better: "lower" | "higher" = "lower"): string[] {
  const points = given.map((each, run) => ({
    ...{ run, low: each.ratio / 1.02, high: each.ratio * 1.02, rounds: 5, floor: 1.05, verdict: "decided" as const },
    ...each,
  }));
  return changesOf({ points, better }, runs(points.length)).map(
    ({ run, against, verdict }) => `${run}<${against} ${verdict}`,
  );
}

describe("a change is marked", () => {
  test("if the intervals do not overlap and the ratio moved by more than the noise", () => {
    expect(changes([{ ratio: 0.5 }, { ratio: 0.6 }])).toEqual(["1<0 worse"]);
    expect(changes([{ ratio: 0.6 }, { ratio: 0.5 }])).toEqual(["1<0 better"]);
  });

  test("as better if the ratio of a throughput rose", () => {
    expect(changes([{ ratio: 0.5 }, { ratio: 0.6 }], "higher")).toEqual(["1<0 better"]);
  });

  test("once for a step, and again when it is taken back", () => {
    expect(changes([1, 1, 1.5, 1.5, 1.5, 1].map((ratio) => ({ ratio })))).toEqual(["2<1 worse", "5<4 better"]);
  });

  test("for a slow drift, against the first run of its level", () => {
    expect(changes([1, 1.035, 1.07, 1.1, 1.13].map((ratio) => ({ ratio })))).toEqual(["2<0 worse", "4<2 worse"]);
  });

  test.each<[string, Given, Given]>([
    ["if the intervals overlap", { ratio: 1, low: 0.8, high: 1.3 }, { ratio: 1.4, low: 1.2, high: 1.6 }],
    ["if it is within the noise of the first run", { ratio: 1, floor: 1.6 }, { ratio: 1.5 }],
    ["if it is within the noise of the second run", { ratio: 1 }, { ratio: 1.5, floor: 1.6 }],
    ["if the noise is unknown and it is no multiple", { ratio: 1, floor: undefined }, { ratio: 2.5 }],
    ["if a run has too few rounds", { ratio: 1, rounds: 4 }, { ratio: 9 }],
    ["if a mechanism was still warming up", { ratio: 1 }, { ratio: 9, why: "it still became faster" }],
  ])("but not %s", (_, first, second) => {
    expect(changes([first, second])).toEqual([]);
  });

  test("with what differs between the two runs", () => {
    const points = [1, 2].map((ratio, at) => ({
      ...{ ratio, low: ratio, high: ratio, rounds: 5, floor: 1.05, verdict: "decided" as const, run: at + 1 },
    }));
    const [only] = changesOf({ points, better: "lower" }, runs(3));
    expect(only).toMatchObject({
      run: 2,
      against: 1,
      factor: 2,
      differs: ["commit: c1 -> c2", "runtime of node: v20 -> v24"],
    });
  });

  test("in no comparison of five kept runs of one build", () => {
    const kept = JSON.parse(
      readFileSync(new URL("../../../../lab/records/quick-answers.json", import.meta.url), "utf8"),
    ) as {
      runs: {
        state: string;
        answers: { question: string; comparisons: ({ label?: string; noise?: number } & TrendPoint)[] }[];
      }[];
    };
    const series = new Map<string, TrendPoint[]>();
    const quiet = kept.runs.filter(({ state }) => state === "quiet");
    for (const [run, { answers }] of quiet.entries()) {
      for (const { question, comparisons } of answers) {
        for (const { label = "", ratio, low, high, rounds, noise, verdict } of comparisons) {
          if (ratio === undefined) continue;
          const points = series.get(question + label) ?? [];
          points.push({ run, ratio, low, high, rounds, floor: noise, verdict });
          series.set(question + label, points);
        }
      }
    }
    expect(series.size).toBeGreaterThan(30);
    const all = [...series.values()].flatMap((points) => changesOf({ points, better: "lower" }, runs(quiet.length)));
    expect(all).toEqual([]);
  });
});

describe("a trend", () => {
  const seeded = (seed: number, fixture: Fixture = {}) => askedRecord({ ...fixture, more: { ...fixture.more, seed } });
  const days = (...list: string[]) => list.map((day, at) => seeded(at, { day: `2026-02-${day}`, commit: `c${at}` }));

  test("has the runs of a machine in the order of their starts", () => {
    const { machines } = trendOf(found(...days("03", "01", "02")));
    expect(machines).toHaveLength(1);
    expect(machines[0]!.runs.map(({ startedAt }) => startedAt.slice(8, 10))).toEqual(["01", "02", "03"]);
    expect(machines[0]!.series[0]!.points.map(({ run }) => run)).toEqual([0, 1, 2]);
  });

  test("has each question, then each other cell of Clearway against the reference", () => {
    const { series } = trendOf(found(askedRecord())).machines[0]!;
    expect(series.map(({ subject, reference }) => `${subject} / ${reference}`)).toEqual([
      "clearway-records / worker-clone",
      "clearway-columns / worker-clone",
    ]);
    expect(series[0]).toMatchObject({
      ...{ question: "Does the main thread stay free while a million records arrive?", better: "lower" },
      ...{ metric: "longestStall", params: { rows: 1_000_000 } },
    });
    expect(series[0]!.points).toEqual([
      { run: 0, ratio: 0.012, low: 0.01, high: 0.014, rounds: 5, floor: 1.05, verdict: "decided" },
    ]);
  });

  test("joins the runs that asked a question with those that measured the scenario", () => {
    const { questions: _, ...plain } = seeded(2, { day: "2026-01-03" });
    const { series, runs: both } = trendOf(found(askedRecord(), plain as RunRecord)).machines[0]!;
    expect(both).toHaveLength(2);
    expect(series.map(({ points }) => points.length)).toEqual([2, 2]);
  });

  test("has no ratio of another load, of a failed cell or of a cell without a reference", () => {
    const other = seeded(2, { day: "2026-01-03" });
    for (const cell of other.cells) cell.params = { ...cell.params, rows: 5 };
    other.cells[3]!.rounds = [];
    other.cells[3]!.failure = "boom";
    other.questions = [];
    const { series } = trendOf(found(askedRecord(), other)).machines[0]!;
    expect(series.map(({ subject, params, points }) => [subject, params["rows"], points.length])).toEqual([
      ["clearway-records", 5, 1],
      ["clearway-records", 1_000_000, 1],
      ["clearway-columns", 1_000_000, 1],
    ]);
    other.cells = other.cells.filter(({ mechanism }) => mechanism !== "worker-clone");
    expect(trendOf(found(other)).machines[0]!.series).toEqual([]);
  });

  test("compares nothing across machines; the machine with the newest run is the first", () => {
    const { machines } = trendOf(
      found(seeded(1, { cpu: "old", ratios: Array(5).fill(0.1) }), seeded(2, { cpu: "new", day: "2026-03-01" })),
    );
    expect(machines.map(({ cpu, runs: own }) => [cpu, own.length])).toEqual([
      ["new", 1],
      ["old", 1],
    ]);
    expect(machines.flatMap(({ series }) => series.flatMap(({ changes: all }) => all))).toEqual([]);
  });

  test("marks a change and says what differs", () => {
    const ratios = [0.02, 0.021, 0.022, 0.023, 0.024];
    const { series } = trendOf(found(askedRecord(), seeded(2, { ratios, day: "2026-01-03", commit: "feedfeedfeed" })))
      .machines[0]!;
    const [change] = series[0]!.changes;
    expect(change).toMatchObject({
      run: 1,
      against: 0,
      verdict: "worse",
      differs: ["commit: 0123456789ab -> feedfeedfeed"],
    });
    expect(change!.factor).toBeCloseTo(0.022 / 0.012, 10);
    expect(series[1]!.changes).toEqual([]);
  });

  test("takes throughput as better if it is higher", () => {
    const of = askedRecord();
    of.scenarios[0]!.compare = "rate";
    of.questions = [];
    for (const cell of of.cells)
      for (const { measurement } of cell.rounds) measurement.values["rate"] = { unit: "events/s", value: 1000 };
    expect(trendOf(found(of)).machines[0]!.series[0]!.better).toBe("higher");
  });

  test("leaves out a run that is kept twice, and one whose rounds cannot be read", () => {
    const damaged = seeded(3);
    damaged.scenarios[0]!.compare = "latency.p50";
    for (const cell of damaged.cells)
      for (const { measurement } of cell.rounds)
        measurement.samples["latency"] = { unit: "us", n: 1, hdr: "no histogram" };
    const { machines, problems } = trendOf(found(askedRecord(), askedRecord(), damaged));
    expect(machines[0]!.runs).toHaveLength(1);
    expect(problems[0]).toEqual({ folder: "r/1", problem: "it has the same run as r/0: remove one of them" });
    expect(problems[1]!.problem).toMatch(/^no ratios follow from its rounds/);
  });

  test("takes quantiles from the raw histograms that are kept", () => {
    const of = record({ seed: 5 });
    for (const cell of of.cells.filter(({ scenario }) => scenario === "stream")) {
      const ns = cell.mechanism === "clearway-stream" ? 500 : 1000;
      const [first] = cell.rounds;
      if (first === undefined) continue;
      cell.rounds = [0, 1, 2, 3, 4].map((round) => ({
        ...first,
        round,
        measurement: {
          ...first.measurement,
          samples: { latency: { unit: "us", n: 2, hdr: encodeHistogram(histogramOf([ns, ns])) } },
        },
      }));
    }
    const { folder } = keep(scratch.run(of), scratch.folder("histograms"));
    const { machines } = trendOf(readRecords(path.dirname(folder)));
    const stream = machines[0]!.series.find(({ scenario }) => scenario === "stream");
    expect(stream!.points).toEqual([
      { run: 0, ratio: 0.5, low: 0.5, high: 0.5, rounds: 5, floor: 1.05, verdict: "decided" },
    ]);
  });
});

describe("a folder of records", () => {
  test("may have other files and folders; a damaged record is named", () => {
    const records = scratch.folder("mixed");
    const { folder } = keep(scratch.run(askedRecord()), records);
    writeFileSync(path.join(records, "promises.json"), "{}");
    mkdirSync(path.join(records, "notes"));
    mkdirSync(path.join(records, ".keeping-x"));
    writeFileSync(path.join(records, ".keeping-x", "results.json"), "{}");
    const broken = path.join(records, "2026-05-05-broken");
    mkdirSync(broken);
    writeFileSync(path.join(broken, "record.json.gz"), "no gzip");
    const trend: Trend = trendOf(readRecords(records));
    expect(trend.machines.flatMap(({ runs: own }) => own.map((run) => run.folder))).toEqual([folder]);
    expect(trend.problems).toHaveLength(1);
    expect(trend.problems[0]!.folder).toBe(broken);
  });

  test("may be empty", () => {
    const records = scratch.folder("empty");
    mkdirSync(records);
    expect(trendOf(readRecords(records))).toEqual({ machines: [], problems: [] });
  });
});
