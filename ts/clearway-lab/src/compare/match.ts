// SPDX-License-Identifier: MIT OR Apache-2.0
// Matches the cells of two runs: the same scenario, host, mechanism and parameters.
import type { HostName, Params } from "../protocol/message.js";
import type { RecordedCell, RunRecord } from "../run/record.js";
import type { Role } from "../scenario/scenario.js";
import { areComparable, type Figures, figuresOf, type Metric, parseMetric } from "./figures.js";
import { cellKey, type KeptRun } from "./kept-run.js";

export interface CellName {
  family: string;
  scenario: string;
  host: HostName;
  mechanism: string;
  role: Role;
  params: Params;
}

/** A cell that both runs have and whose figures can be compared. */
export interface MatchedCell extends CellName {
  key: string;
  /** Whether it is the second cell of an A/A pair. */
  control: boolean;
  /** Whether both runs measured the same code in the same way: no code of Clearway, and no other version or settings. */
  unchanged: boolean;
  metric: string;
  a: Figures;
  b: Figures;
}

/** A cell that cannot be compared, and why. */
export interface UnmatchedCell extends CellName {
  key: string;
  why: string;
  /** Whether only one run has the cell at all, or has rounds of it. Undefined if both have. */
  onlyIn?: "A" | "B";
}

export interface Matched {
  cells: MatchedCell[];
  /** Without the second cells of A/A pairs. */
  others: UnmatchedCell[];
}

/** Matches the cells. `metric` is the compared figure of every cell. Default: each scenario's own. */
export function matchCells(a: KeptRun, b: KeptRun, metric?: Metric): Matched {
  const matched: Matched = { cells: [], others: [] };
  const [inA, inB] = [a, b].map(({ record }) => new Map(record.cells.map((cell) => [cellKey(cell), cell]))) as [
    Map<string, RecordedCell>,
    Map<string, RecordedCell>,
  ];
  for (const key of new Set([...inA.keys(), ...inB.keys()])) {
    const found = matchOf(a, b, key, inA.get(key), inB.get(key), metric);
    if ("a" in found) matched.cells.push(found);
    else if (!(inA.get(key) ?? inB.get(key))!.control) matched.others.push(found);
  }
  return matched;
}

function matchOf(
  a: KeptRun,
  b: KeptRun,
  key: string,
  inA: RecordedCell | undefined,
  inB: RecordedCell | undefined,
  asked: Metric | undefined,
): MatchedCell | UnmatchedCell {
  const named = { key, ...nameOf((inA ?? inB)!) };
  if (inA === undefined) return { ...named, why: "A does not have it", onlyIn: "B" };
  if (inB === undefined) return { ...named, why: "B does not have it", onlyIn: "A" };
  const metrics = [a, b].map(({ record }) => metricOf(record, inA.scenario));
  const metric = asked ?? (metrics[0]?.name === metrics[1]?.name ? metrics[0] : undefined);
  if (metric === undefined) return { ...named, why: "the runs do not name the same compared figure: use --metric" };
  const [first, second] = [figuresOf(a, inA, metric), figuresOf(b, inB, metric)];
  if ("why" in first || "why" in second) {
    const why = [first, second].flatMap((each, at) => ("why" in each ? [`${at === 0 ? "A" : "B"}: ${each.why}`] : []));
    const only = "why" in first && "why" in second ? {} : { onlyIn: "why" in first ? ("B" as const) : ("A" as const) };
    return { ...named, why: why.join("; "), ...only };
  }
  if (!areComparable(first.unit, second.unit))
    return { ...named, why: `its units differ: ${first.unit} in A, ${second.unit} in B` };
  const { control } = inA;
  return {
    ...named,
    control,
    unchanged: isUnchanged(inA, inB, a.record, b.record),
    metric: metric.name,
    a: first,
    b: second,
  };
}

function metricOf({ scenarios }: RunRecord, scenario: string): Metric | undefined {
  const found = scenarios.find(({ name }) => name === scenario);
  return found === undefined ? undefined : parseMetric(found.compare);
}

function nameOf({ family, scenario, host, mechanism, role, params }: RecordedCell): CellName {
  return { family, scenario, host, mechanism, role, params };
}

function isUnchanged(inA: RecordedCell, inB: RecordedCell, a: RunRecord, b: RunRecord): boolean {
  if (inA.role === "clearway" || inB.role === "clearway" || inA.settings !== inB.settings) return false;
  const names = new Set([...Object.keys(a.build.peers), ...Object.keys(b.build.peers)]);
  return [...names].every((name) => a.build.peers[name] === b.build.peers[name] || !inA.mechanism.includes(name));
}
