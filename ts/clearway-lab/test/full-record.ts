// SPDX-License-Identifier: MIT OR Apache-2.0
// A record with a question and, in Node, every scenario, so that a report has every kind of section, chart and table. Its figures are
// invented.
import type { Measurement, SampleSet, Value } from "../src/protocol/message.js";
import { COLUMNS, type Column, figuresOf } from "../src/report/columns.js";
import { type RecordedCell, type RunRecord, recordedCell } from "../src/run/record.js";
import { type ExperimentTable, loadExperiments, withExperiments } from "../src/scenario/experiment.js";
import { loadScenarios } from "../src/scenario/load.js";
import { type PlannedCell, planCells } from "../src/scenario/plan.js";
import { HOST_NAMES } from "../src/scenario/scenario.js";
import { encodeHistogram, histogramOf } from "../src/statistics/histogram.js";
import { record, studentsQuestion } from "./record.js";

const CHANNEL: Column[] = [
  { label: "", unit: "us", metric: "roundTrip", quantile: "p50" },
  { label: "", unit: "us", metric: "perMessageOfThree" },
  { label: "", unit: "bytes", metric: "copiedBytes" },
  { label: "", unit: "bytes", metric: "allocatedBytes" },
  { label: "", unit: "count", metric: "allocations" },
];
const UPLOAD: Column[] = [
  { label: "", unit: "ms/MB", metric: "timePerMegabyte" },
  { label: "", unit: "ms", metric: "longestStall" },
];

function columnsOf(scenario: string): Column[] {
  return COLUMNS[figuresOf(scenario)] ?? (scenario === "upload" ? UPLOAD : CHANNEL);
}

/** Returns a measurement whose figures grow with `level`. */
function measurement(columns: readonly Column[], level: number): Measurement {
  const values: Record<string, Value> = {};
  const samples: Record<string, SampleSet> = {};
  for (const [at, { metric, unit, quantile }] of columns.entries()) {
    const middle = (1 + at) * level;
    if (quantile === undefined) values[metric] = { unit: unit as Value["unit"], value: middle };
    else {
      const ns = Array.from({ length: 50 }, (_, i) => middle * 1000 * (1 + i / 20));
      samples[metric] = { unit: "us", n: ns.length, hdr: encodeHistogram(histogramOf(ns)) };
    }
  }
  const timeline = { totalMs: 40 * level, stalls: [{ at: 2 * level, ms: 9 * level }] };
  return { samples, values, timeline, result: null, notes: level > 8 ? ["its worker never settled"] : [] };
}

type Columns = (scenario: string) => readonly Column[];

/** Returns the cells as measured: each round is 3 % slower than the one before. */
function measuredCells(planned: readonly PlannedCell[], figures: Columns = columnsOf): RecordedCell[] {
  return planned.map((cell, at) => {
    const recorded = recordedCell(cell);
    if (cell.unavailable !== undefined) return recorded;
    const columns = figures(recorded.scenario);
    recorded.rounds = Array.from({ length: cell.rounds }, (_, round) => ({
      ...{ round, position: at, tookMs: 100, machineStallMs: at % 50 === 0 ? 40 : 0.2 },
      measurement: measurement(columns, (1 + (at % 11)) * 1.03 ** round),
    }));
    return recorded;
  });
}

/** The scenarios whose charts need all sets of parameters. Of the others, one set is enough. */
const WHOLE = ["memset", "upload", "works", "sizes", "crossing"];

/** Returns a record that answers a question and has all scenarios, those of Node alone with one round each. One cell failed. */
export function fullRecord(): RunRecord {
  const scenarios = loadScenarios();
  const planned = planCells(scenarios, "quick", HOST_NAMES, {}, 1).filter(
    (cell) => WHOLE.includes(cell.scenario.name) || isFirstSet(cell),
  );
  const cells = measuredCells(planned);
  const failed = cells.find(({ mechanism }) => mechanism === "comlink")!;
  Object.assign(failed, { rounds: [], failure: "Error: the worker ended with status 1\n    at run (worker.js:3:9)" });
  const base = record();
  const host = base.hosts["node"]!;
  const hosts = Object.fromEntries(HOST_NAMES.map((name) => [name, { ...host, host: name, runtime: `${name} 1.2.3` }]));
  return {
    ...base,
    ...{ hosts, scenarios, questions: [studentsQuestion], cells, planned: 900, done: 899, budgetEnded: true },
    machine: { ...base.machine, loadBefore: 9, stealPercent: 4, virtual: "virtual machine", cores: 2 },
  };
}

function isFirstSet({ scenario, params }: PlannedCell): boolean {
  return scenario.profiles.quick.sets.find(({ hosts }) => hosts?.includes("node") ?? true)?.params === params;
}

/** Returns a record of the profile `published` with every table of the five experiments. The report has no section of a scenario. */
export function publishedRecord(): RunRecord {
  const all = loadScenarios();
  const experiments = loadExperiments(all);
  const scenarios = withExperiments(all, experiments);
  const tables = experiments.flatMap((experiment) => experiment.tables);
  const ofTables: Columns = (scenario) => {
    const columns = tables.filter((table) => table.scenario === scenario).flatMap(tableColumns);
    return [...new Map(columns.map((column) => [column.metric, column])).values()];
  };
  const planned = planCells(scenarios, "published", HOST_NAMES, {}, 1).filter(({ control }) => !control);
  return {
    ...fullRecord(),
    ...{ profile: "published", questions: undefined, experiments, scenarios: [] },
    cells: measuredCells(planned, ofTables),
  };
}

function tableColumns({ columns, metric = "", unit = "" }: ExperimentTable): Column[] {
  return (columns ?? [{ label: "", metric, unit }]).map((column) => {
    const [name = "", quantile] = column.metric.split(".");
    return {
      label: column.label,
      unit: column.unit,
      metric: name,
      ...(quantile === undefined ? {} : { quantile }),
    } as Column;
  });
}
