// SPDX-License-Identifier: MIT OR Apache-2.0
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import jetpackSchema from "../../../spec/jetpack-benchmark.schema.json" with { type: "json" };
import { problemOf } from "../src/cli/run-files.js";
import { jetpackReport, markdownText } from "../src/export/formats.js";
import { answered } from "./answered.js";

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
  });
});

describe("Jetpack's Benchmark JSON", () => {
  const report = jetpackReport(answered("bench"));

  test("has only the published fields", () => {
    const validate = new Ajv2020({ allErrors: true, allowUnionTypes: true }).compile(jetpackSchema);
    expect([validate(report), validate.errors]).toEqual([true, null]);
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

  test("shows a text of a machine or a user as it is", () => {
    const results = answered("bench");
    results.run.title = "<b> | `x`";
    expect(markdownText(results)).toMatch("# \\<b\\> \\| \\`x\\`");
  });
});
