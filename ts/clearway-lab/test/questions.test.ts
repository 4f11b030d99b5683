// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests the questions of the quick profile: their data and their plan.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { tablesOf } from "../src/report/tables.js";
import { requestOf } from "../src/run/execute.js";
import { resultsOf } from "../src/run/results.js";
import { loadScenarios } from "../src/scenario/load.js";
import { CONTROL_PARAM, CORES_PARAM, type PlannedCell } from "../src/scenario/plan.js";
import { loadQuestions, type Question, withoutPinning } from "../src/scenario/question.js";
import { planQuestions } from "../src/scenario/question-plan.js";
import { HOST_NAMES } from "../src/scenario/scenario.js";
import { ROUNDS_MIN } from "../src/statistics/decide.js";
import { questionsRecord } from "./full-record.js";

const scenarios = loadScenarios();
const questions = loadQuestions(scenarios);
const folder = mkdtempSync(path.join(tmpdir(), "clearway-questions-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const students = questions.find(({ name }) => name === "records-node") as Question;

describe("the questions", () => {
  test("are thirteen, and the scenarios can decide each", () => {
    expect(questions).toHaveLength(13);
    expect(new Set(questions.map(({ name }) => name)).size).toBe(13);
  });

  test("have one to three other mechanisms at most beside the two compared ones", () => {
    for (const { comparisons } of questions)
      for (const { others } of comparisons) expect(others.length).toBeLessThanOrEqual(3);
  });

  const [compared] = students.comparisons;
  test.each([
    ["an unknown scenario", { ...compared, scenario: "student" }, "unknown scenario: scenario=student"],
    ["an unknown mechanism", { ...compared, subject: "clearway" }, "no such mechanism on node: mechanism=clearway"],
    ["a host without it", { ...compared, host: "jvm" }, "its params select 0 sets"],
    ["params of no set", { ...compared, params: { rows: 5 } }, 'its params select 0 sets: params={"rows":5}'],
    ["params of two sets", { ...compared, scenario: "pool", params: {} }, "its params select 3 sets"],
    ["pinned threads of a page", { ...compared, host: "chromium", cores: "one" }, "only the threads of host node"],
    ["a label without the cores", { ...compared, label: "on one core", cores: "two" }, "a label must name the cores"],
  ])("are refused with %s, with the name of the question", (_, change, message) => {
    const file = path.join(folder, "wrong.json");
    writeFileSync(file, JSON.stringify([{ ...students, comparisons: [change] }]));
    expect(() => loadQuestions(scenarios, file)).toThrow(`wrong.json: records-node: `);
    expect(() => loadQuestions(scenarios, file)).toThrow(message);
  });

  test("are refused when several comparisons share one figure, or have no label", () => {
    const file = path.join(folder, "several.json");
    const several = (label: object, sentence: string) =>
      writeFileSync(
        file,
        JSON.stringify([{ ...students, sentence, comparisons: [compared, { ...compared, ...label }] }]),
      );
    several({}, "");
    expect(() => loadQuestions(scenarios, file)).toThrow("each of several comparisons needs a label");
    const labelled = { ...students, comparisons: [1, 2].map((label) => ({ ...compared, label: String(label) })) };
    writeFileSync(file, JSON.stringify([labelled]));
    expect(() => loadQuestions(scenarios, file)).toThrow("its sentence has one figure for several comparisons");
    writeFileSync(file, JSON.stringify([{ ...students, comparisons: [] }]));
    expect(() => loadQuestions(scenarios, file)).toThrow("it compares nothing");
  });
});

describe("the questions without pinning", () => {
  const here = withoutPinning(questions);

  test("are the same ones, and pin no thread", () => {
    expect(here.map(({ name }) => name)).toEqual(questions.map(({ name }) => name));
    for (const { comparisons } of here) {
      expect(comparisons.length).toBeGreaterThan(0);
      for (const each of comparisons) {
        expect(each).not.toHaveProperty("cores");
        expect(each.label ?? "").not.toMatch(/on (one|two) core/);
        expect(each.sameCores ?? false).toBe(/on any cores/.test(each.label ?? ""));
      }
    }
  });
});

describe("the plan of the questions", () => {
  const cells = planQuestions(questions, scenarios, HOST_NAMES);

  test("has each cell once, though several questions need it, and a repeat of a reference for each question", () => {
    const key = ({ scenario, mechanism, host, params }: (typeof cells)[number]) =>
      JSON.stringify([scenario.name, mechanism.name, host, params]);
    expect(new Set(cells.map(key)).size).toBe(cells.length);
    const repeated = questions.map(({ comparisons }) => comparisons[0]!).filter((each) => each.repeat !== false);
    expect(repeated.length).toBeGreaterThan(9);
    for (const { host, reference, scenario } of repeated) {
      const repeats = cells.filter(
        (each) =>
          each.control && each.host === host && each.mechanism.name === reference && each.scenario.name === scenario,
      );
      expect(repeats.length).toBeGreaterThan(0);
      for (const { params } of repeats) expect(params[CONTROL_PARAM]).toBe("A/A");
    }
  });

  // After 265 s the lab starts only first rounds. A quiet machine with two cores takes 0.9 times the estimates. A slower machine leaves out
  // the mechanisms that are only in the tables.
  test("has its five rounds within the time of the quick profile on an ordinary machine, by the estimates", () => {
    const estimateOf = (planned: PlannedCell[]) => planned.reduce((sum, each) => sum + each.estimateMs, 0) * ROUNDS_MIN;
    const deciding = questions.map((question) => ({
      ...question,
      comparisons: question.comparisons.map((compared) => ({ ...compared, others: [] })),
    }));
    expect(estimateOf(planQuestions(deciding, scenarios, HOST_NAMES))).toBeLessThan(265_000 / 1.2);
    expect(estimateOf(cells)).toBeLessThan(265_000 / 1.1);
  });

  test("fills every table of the report: each mechanism in it has every figure of its columns", () => {
    const whole = questionsRecord();
    const tables = tablesOf(resultsOf(whole), whole);
    expect(new Set(tables.map(({ scenario }) => scenario)).size).toBeGreaterThan(7);
    const dashes = tables.flatMap(({ scenario, host, load, columns, rows }) =>
      rows.flatMap(({ title, cells: texts }) =>
        texts.flatMap(({ text }, at) =>
          text === "–" ? [[scenario, host, load, title, columns[at]?.label].join(" | ")] : [],
        ),
      ),
    );
    expect(dashes).toEqual([]);
    expect(whole.cells.every(({ rounds, unavailable }) => rounds.length === 5 || unavailable !== undefined)).toBe(true);
  });

  test("has a cell of its own for each state of the cores, and the runner's request does not contain the state", () => {
    const [one] = cells.filter(({ cores }) => cores === "one");
    expect(one?.params[CORES_PARAM]).toBe("one");
    expect(cells).toContainEqual({ ...one, cores: "two", params: { ...one?.params, [CORES_PARAM]: "two" } });
    expect(requestOf(one as PlannedCell).params).not.toHaveProperty(CORES_PARAM);
  });

  test("leaves out other hosts, and says of a missing one why it is not measured", () => {
    const some = planQuestions(questions, scenarios, ["node", "jvm"], { jvm: "there is no JDK" }, 5);
    expect(new Set(some.map(({ host }) => host))).toEqual(new Set(["node", "jvm"]));
    for (const { host, unavailable, rounds } of some) {
      expect(rounds).toBe(5);
      if (host === "jvm") expect(unavailable).toBe("there is no JDK");
    }
  });
});
