// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests the data of the published experiments, and the plan that the lab makes of them.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { LIMITS } from "../src/cli/published.js";
import { type Experiment, type Finding, loadExperiments, withExperiments } from "../src/scenario/experiment.js";
import { planCells, planOrder } from "../src/scenario/plan.js";
import { DEFAULT_HOSTS, loadScenarios } from "../src/scenario/scenario.js";
import { EXPERIMENT, figure } from "./experiment-record.js";

const scenarios = loadScenarios();
const experiments = loadExperiments(scenarios);
const planned = planCells(withExperiments(scenarios, experiments), DEFAULT_HOSTS);

describe("the published experiments", () => {
  test("are five, each with cells, tables and findings", () => {
    expect(experiments.map(({ number }) => number)).toEqual([1, 2, 3, 4, 5]);
    for (const { measures, tables, question, leftOut } of experiments) {
      expect(Math.min(measures.length, tables.length)).toBeGreaterThan(0);
      expect(question.endsWith("?")).toBe(true);
      expect(leftOut.every(({ what, why }) => what.length > 0 && why.length > 0)).toBe(true);
    }
  });

  test("fit into an hour on the hosts of a run that names none, by the estimates of their cells", () => {
    const estimateMs = planOrder(planned, 1).reduce((sum, { cell }) => sum + cell.estimateMs, 0);
    expect(estimateMs).toBeLessThan(LIMITS.endMs);
    expect(LIMITS.endMs).toBeLessThan(60 * 60_000);
    // The last measurement may start at the end of the time, and must end within the hour.
    expect(Math.max(...planned.map((cell) => cell.estimateMs))).toBeLessThan(60 * 60_000 - LIMITS.endMs);
  });

  test("have 2000 messages at 60 a second for every way that can run, in a run that is added to a kept one", () => {
    const all = planCells(withExperiments(scenarios, experiments, true), DEFAULT_HOSTS);
    for (const { name, mechanisms, hosts = ["node", "chromium"] } of scenarios) {
      if (!["stream-published", "published-stream-jvm", "stream-published-swift"].includes(name)) continue;
      for (const host of hosts) {
        const ways = mechanisms.filter(
          (each) => !each.name.startsWith("chain-") && each.unavailable?.[host] === undefined,
        );
        const found = all.filter(
          ({ scenario, params, host: on }) =>
            scenario.name === name && on === host && params["perSecond"] === 60 && params["count"] === 2000,
        );
        expect(found.map(({ mechanism }) => mechanism.name)).toEqual(
          expect.arrayContaining(ways.map((each) => each.name)),
        );
      }
    }
  });

  test("measure the published loads", () => {
    const params = planned.map((cell) => ({ scenario: cell.scenario.name, ...cell.params }));
    expect(params).toContainEqual(
      expect.objectContaining({ scenario: "students-published", rows: 100_000_000, content: "one shared object" }),
    );
    expect(params).toContainEqual(
      expect.objectContaining({ scenario: "stream-published", loop: "closed", perSecond: 60, count: 2000 }),
    );
    expect(params).toContainEqual(
      expect.objectContaining({ scenario: "growing-queue", perSecond: 0, count: 1_000_000 }),
    );
    const sizes = (scenario: string) =>
      [...new Set(params.flatMap((each) => (each.scenario === scenario ? [Number(each["bytes" as never])] : [])))].sort(
        (a, b) => a - b,
      );
    const powers = Array.from({ length: 15 }, (_, i) => 4096 << i);
    expect(sizes("crossing")).toEqual(powers);
    expect(sizes("memset-published")).toEqual(powers);
  });

  test("own every planned cell, and no cell twice", () => {
    const names = (cells: typeof planned) =>
      cells.map(({ scenario, mechanism, host, params }) =>
        JSON.stringify([scenario.name, mechanism.name, host, params]),
      );
    const owned = experiments.flatMap((each) => names(planCells(withExperiments(scenarios, [each]), DEFAULT_HOSTS)));
    expect(owned.sort()).toEqual(names(planned).sort());
    expect(new Set(owned).size).toBe(owned.length);
  });
});

describe("the bounds of the published findings", () => {
  const findings = experiments.flatMap((each) => each.findings);

  test("have no lower one for a claim of less, of shorter or of at most", () => {
    const bounded = findings.filter(({ claim, min }) => min > 0 && /\b(at most|less than|shorter)\b/.test(claim));
    expect(bounded.map(({ claim }) => claim)).toEqual([]);
  });

  test("do not overlap for two claims on one number", () => {
    const numberOf = ({ kind, subject, reference, among }: Finding) =>
      JSON.stringify([kind, subject, reference, among]);
    const pairs = findings.flatMap((one, at) =>
      findings.slice(at + 1).flatMap((other) => (numberOf(one) === numberOf(other) ? [[one, other] as const] : [])),
    );
    expect(pairs.length).toBeGreaterThan(0);
    const overlapping = pairs.filter(([one, other]) => one.min < other.max && other.min < one.max);
    expect(overlapping.map(([one, other]) => `${one.claim} / ${other.claim}`)).toEqual([]);
  });
});

describe("a file of an experiment", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "clearway-experiments-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  beforeEach(() => {
    for (const name of ["1-a.json", "1-b.json"]) rmSync(path.join(folder, name), { force: true });
  });
  const write = (name: string, experiment: Partial<Experiment>) =>
    writeFileSync(path.join(folder, name), JSON.stringify(experiment));
  const load = (changes: Partial<Experiment>) => {
    write("1-a.json", { ...EXPERIMENT, ...changes });
    return () => loadExperiments(scenarios, folder);
  };

  test("adds to the experiment of an earlier file with its number", () => {
    write("1-a.json", EXPERIMENT);
    const measures = [{ scenario: "codec", rounds: 1, sets: [{ params: { value: "int" }, estimateMs: 1 }] }];
    write("1-b.json", { number: 1, measures, leftOut: [{ what: "x", why: "y" }] });
    const [experiment, ...others] = loadExperiments(scenarios, folder);
    expect(others).toEqual([]);
    expect(experiment).toMatchObject({ title: EXPERIMENT.title, findings: EXPERIMENT.findings });
    expect(experiment?.measures).toEqual([...EXPERIMENT.measures, ...measures]);
    expect(experiment?.leftOut).toHaveLength(2);
  });

  test.each<[string, Partial<Experiment>, RegExp]>([
    [
      "an unknown scenario",
      { measures: [{ scenario: "studnets", rounds: 1, sets: [] }] },
      /published\/1-a.json: unknown scenario: scenario=studnets/,
    ],
    [
      "no rounds",
      { measures: [{ scenario: "students", rounds: 0, sets: [] }] },
      /rounds is no positive integer.*rounds=0/,
    ],
    [
      "an unknown mechanism",
      { measures: [{ scenario: "students", rounds: 1, sets: [{ params: {}, mechanisms: ["x"], estimateMs: 1 }] }] },
      /students has no such mechanism: mechanism=x/,
    ],
    [
      "a table of a mechanism without cells",
      { tables: [{ ...EXPERIMENT.tables[0]!, mechanisms: ["direct", "x"] }] },
      /no cell belongs to a table: title=A million students mechanism=x/,
    ],
    [
      "a table without columns",
      { tables: [{ title: "t", scenario: "students", host: "node", params: {} }] },
      /needs either columns or by: title=t/,
    ],
    [
      "a table by size without a metric",
      { tables: [{ title: "t", scenario: "students", host: "node", params: {}, by: "rows" }] },
      /needs metric and unit: title=t/,
    ],
    [
      "a table without cells",
      { tables: [{ title: "t", scenario: "students", host: "jvm", params: {}, columns: [] }] },
      /no cell belongs to a table: title=t/,
    ],
    [
      "a finding without bounds",
      { findings: [{ claim: "c", kind: "value", subject: figure("direct"), max: 1 } as Finding] },
      /needs two bounds: min=undefined max=1: claim=c/,
    ],
    [
      "a ratio without reference",
      { findings: [{ claim: "c", kind: "ratio", subject: figure("direct"), min: 0, max: 1 }] },
      /a ratio needs a reference/,
    ],
    [
      "a spread of one",
      { findings: [{ claim: "c", kind: "spread", among: ["direct"], subject: figure("direct"), min: 0, max: 1 }] },
      /a spread needs two mechanisms/,
    ],
    [
      "a first among none",
      { findings: [{ claim: "c", kind: "first", subject: figure("direct"), min: 0, max: 1 }] },
      /needs other mechanisms in among/,
    ],
    [
      "a finding without a cell",
      { findings: [{ claim: "c", kind: "value", subject: figure("direct", { params: { rows: 7 } }), min: 0, max: 1 }] },
      /no cell decides a finding: claim=c mechanism=direct params=\{"rows":7\}/,
    ],
    ["a wrong number", { number: 0 }, /number is no positive integer: number=0/],
    ["no question", { question: undefined as never }, /needs name, title, origin and question/],
  ])("is refused for %s", (_, changes, message) => {
    expect(load(changes)).toThrow(message);
  });

  test("is refused if two sets have one cell", () => {
    const set = { params: { rows: 5 }, hosts: ["node" as const], estimateMs: 1 };
    const measures = [
      ...EXPERIMENT.measures,
      { scenario: "students", rounds: 1, sets: [set, { ...set, mechanisms: ["direct"] }] },
    ];
    expect(load({ measures })).toThrow(/two sets measure one cell: students\/direct on node \[\["rows",5\]\]/);
  });

  test("is not needed: a folder of scenarios without experiments has none", () => {
    expect(loadExperiments(scenarios, path.join(folder, "missing"))).toEqual([]);
  });
});
