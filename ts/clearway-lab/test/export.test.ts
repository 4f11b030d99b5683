// SPDX-License-Identifier: MIT OR Apache-2.0
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import jetpackSchema from "../../../spec/jetpack-benchmark.schema.json" with { type: "json" };
import { problemOf } from "../src/cli/run-files.js";
import { jetpackOfExecutors, jetpackReport, markdownText } from "../src/export/formats.js";
import { answered } from "./answered.js";
import { AUTHORS, executorRecord } from "./published/executor-record.js";
import { cell, measured } from "./record.js";

describe("results.json", () => {
  test.each(["lab", "bench"] as const)("matches its schema: %s", (kind) => {
    expect(problemOf(answered(kind))).toBeUndefined();
  });

  test("is refused with the place of a wrong or an unknown field", () => {
    const results = answered();
    const [first, ...rest] = results.answers;
    expect(problemOf({ ...results, version: 1 })).toMatch("/version");
    expect(problemOf({ ...results, extra: 1 })).toMatch("additional");
    expect(problemOf({ ...results, answers: [{ ...first, verdict: "better" }, ...rest] })).toMatch(
      "/answers/0/verdict",
    );
    expect(problemOf({ ...results, answers: [{ ...first, subjectNs: -1 }, ...rest] })).toMatch("/answers/0/subjectNs");
    for (const startedAt of ["yesterday", "2026-13-01T00:00:00Z", "2026-01-32T00:00:00Z", "2026-01-01T25:00:00Z"])
      expect(problemOf({ ...results, run: { ...results.run, startedAt } })).toMatch("/run/startedAt");
  });
});

describe("Jetpack's Benchmark JSON", () => {
  const report = jetpackReport(answered("bench"));
  const executors = executorRecord(AUTHORS);

  test.each([
    ["a run of questions", report],
    ["the published executors", jetpackOfExecutors(executors)],
  ])("has only the published fields: %s", (_, each) => {
    const validate = new Ajv2020({ allErrors: true, allowUnionTypes: true }).compile(jetpackSchema);
    expect([validate(each), validate.errors]).toEqual([true, null]);
  });

  test("has every timed list of a published executor, and its objects", () => {
    const [first] = executors.cells;
    const cells = [first!, cell("published-executors", "flow", {}, []), cell("students", "direct", {}, [measured({})])];
    const { benchmarks } = jetpackOfExecutors({ ...executors, cells });
    const runs = first!.rounds.flatMap(({ measurement }) => measurement.samples["batchTimes"]!.raw!);
    expect(benchmarks.map(({ name, params }) => [name, params])).toEqual([
      ["direct[work=arithmetic]", { work: "arithmetic" }],
    ]);
    const { timeNs, allocationCount } = benchmarks[0]!.metrics;
    expect(timeNs).toMatchObject({ runs, minimum: Math.min(...runs), maximum: Math.max(...runs) });
    expect(allocationCount).toMatchObject({ minimum: 700, median: 700, maximum: 700 });
  });

  test("has each way of an answer, with its cost in each pair of processes", () => {
    expect(report.benchmarks.slice(0, 2).map(({ name }) => name)).toEqual([
      "pool/small[side=pool]",
      "pool/small[side=direct]",
    ]);
    const pairs = answered().answers[0]!;
    pairs.costsNs = [1, 2, 3, 6].map((ns) => [ns, 1]);
    const [own] = jetpackReport({ ...answered(), answers: [pairs] }).benchmarks;
    expect(own!.metrics["timeNs"]).toMatchObject({ minimum: 1, maximum: 6, median: 2.5, runs: [1, 2, 3, 6] });
    // The deviation is that of a sample: the root of 14 / 3. The mean is 3.
    expect(own!.metrics["timeNs"]!.coefficientOfVariation).toBeCloseTo(Math.sqrt(14 / 3) / 3, 6);
  });

  test("leaves out an answer without a pair", () => {
    const answers = answered().answers.map((each) => ({ ...each, costsNs: [] }));
    expect(jetpackReport({ ...answered(), answers }).benchmarks).toEqual([]);
  });
});

describe("Markdown", () => {
  test("has what to do, the answers by group, the control, the doubts and all figures", () => {
    const text = markdownText(answered());
    const titles = [...text.matchAll(/^#+ (.*)$/gm)].map(([, title]) => title);
    expect(titles).toEqual([
      ...["What to do on this machine", "Faster", "Slower", "No difference", "Open"],
      ...["The control", "Doubts", "All figures"],
    ]);
    expect(text).toMatch(/^\| call \| [\d.]+ \|/m);
  });

  test("has its title, and says why it advises nothing", () => {
    const { run, ...rest } = answered();
    const text = markdownText({ ...rest, run: { ...run, interrupted: false }, answers: [] });
    expect(text).toMatch(/^# What to do on this machine\n\nThe time was too short to say what to do\.\n/);
  });

  test("shows a text of a machine or a user as it is", () => {
    const results = answered("bench");
    results.run.title = "<b> | `x`";
    expect(markdownText(results)).toMatch("# \\<b\\> \\| \\`x\\`");
  });
});
