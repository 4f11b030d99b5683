// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests the findings of the published experiments with a record. A finding agrees if every round's number is within its bounds, and differs
// if every round's number is outside. One round of a stream's latency must be further from a bound than a cell measured twice.
import { type CellFigure, type Finding, figuresOf, includes } from "../scenario/experiment.js";
import { median } from "../statistics/rounds.js";
import { byRound, type RecordedCell, type RunRecord, runLetter } from "./record.js";

export type FindingOutcome = "agrees" | "differs" | "open" | "not measured";

export interface TestedFinding {
  finding: Finding;
  outcome: FindingOutcome;
  /** The numbers of the rounds, in their order. Empty if the finding was not measured. */
  numbers: number[];
  /** The median of the numbers. */
  number?: number;
  /** The mechanism of `among` with the smallest median figure, for `first` and `spread`, and its title. */
  best?: string;
  bestTitle?: string;
  /** The unit of the number of a `value`. */
  unit?: string;
  /** The letters of the runs that measured its cells. */
  runs?: string[];
  /** Why the finding was not measured. */
  reason?: string;
}

export function testFinding(record: Pick<RunRecord, "cells" | "hosts">, finding: Finding): TestedFinding {
  const figures = figuresOf(finding);
  const cells = figures.map((figure) => cellOf(record.cells, figure));
  const absent = cells.findIndex((cell) => cell === undefined || cell.rounds.length === 0);
  if (absent >= 0)
    return { finding, outcome: "not measured", numbers: [], reason: reasonOf(figures[absent]!, cells[absent]) };
  const units = cells.map((cell, i) => unitOf(cell!, figures[i]!.metric));
  const stranger = units.find((unit) => unit !== units[0]);
  if (stranger !== undefined)
    return { finding, outcome: "not measured", numbers: [], reason: `${units[0]} cannot be compared with ${stranger}` };
  const rounds = cells.map((cell, i) => inUnit(byRound(record, cell!, figures[i]!.metric), cell!, figures[i]!.metric));
  const shared = [...rounds[0]!.keys()].filter((round) => rounds.every((each) => each.has(round)));
  const numbers = shared.map((round) =>
    numberOf(
      finding,
      rounds.map((each) => each.get(round)!),
    ),
  );
  // A division by zero has no number. A reference of 0 happens with counts, such as dropped frames.
  if (numbers.length === 0 || numbers.some((number) => !Number.isFinite(number)))
    return { finding, outcome: "not measured", numbers: [], reason: "no round has all its figures" };
  const number = median(numbers);
  const unit = finding.kind === "value" ? units[0] : undefined;
  const best = bestOf(finding, rounds);
  const runs = [...new Set(cells.map((cell) => cell!.added ?? runLetter(0)))].sort();
  return {
    finding,
    outcome: outcomeOf(finding, numbers),
    numbers,
    number,
    ...(unit === undefined ? {} : { unit }),
    runs,
    ...(best === undefined ? {} : { best, bestTitle: cells.find((cell) => cell?.mechanism === best)?.title ?? best }),
  };
}

function numberOf({ kind }: Finding, figures: readonly number[]): number {
  const [subject, ...others] = figures as [number, ...number[]];
  if (kind === "value") return subject;
  if (kind === "ratio") return subject / others[0]!;
  if (kind === "first") return subject / Math.min(...others);
  return Math.max(...figures) / Math.min(...figures);
}

/**
 * How far one round of a stream's latency can be from another one of the same cell. The kept run measured two cells of `chained-hops` twice:
 * their p50 differed by up to 1.4 times, their p99 by up to 2.3 times.
 */
const LATENCY_NOISE = { p50: 1.5, other: 2.5 };

function outcomeOf({ kind, subject: { metric }, min, max }: Finding, numbers: readonly number[]) {
  const isNoisy = numbers.length === 1 && kind !== "value" && metric.startsWith("latency.");
  const noise = !isNoisy ? 1 : metric === "latency.p50" ? LATENCY_NOISE.p50 : LATENCY_NOISE.other;
  const isWithin = (number: number, by: number) => number >= min * by && number <= max / by;
  if (numbers.every((number) => isWithin(number, noise))) return "agrees";
  return numbers.every((number) => !isWithin(number, 1 / noise)) ? "differs" : "open";
}

function bestOf({ kind, among = [] }: Finding, rounds: readonly Map<number, number>[]): string | undefined {
  if (kind !== "first" && kind !== "spread") return undefined;
  const own = kind === "first" ? rounds.slice(1) : rounds;
  const medians = own.map((each) => median([...each.values()]));
  return among[medians.indexOf(Math.min(...medians))];
}

function unitOf(cell: RecordedCell, metric: string): string | undefined {
  const [name = ""] = metric.split(".");
  // A round may lack a figure that was measured wrongly.
  return cell.rounds
    .map(({ measurement: { samples, values } }) => samples[name]?.unit ?? values[name]?.unit)
    .find((unit) => unit !== undefined);
}

const NS_PER = { us: 1e3, ms: 1e6 } as const;

/** Converts figures of samples, which are nanoseconds in a record, to the unit of the samples. */
function inUnit(rounds: Map<number, number>, cell: RecordedCell, metric: string): Map<number, number> {
  const sample = cell.rounds[0]!.measurement.samples[metric.split(".")[0]!];
  if (sample === undefined) return rounds;
  return new Map([...rounds].map(([round, ns]) => [round, ns / NS_PER[sample.unit]]));
}

function reasonOf({ scenario, mechanism, host }: CellFigure, cell: RecordedCell | undefined): string {
  const why = cell?.failure ?? cell?.unavailable ?? "it was not planned";
  return `${scenario}/${mechanism} on ${host}: ${why}`;
}

/** Returns the cell of a figure. */
export function cellOf(
  cells: readonly RecordedCell[],
  { scenario, host, mechanism, params }: Omit<CellFigure, "metric">,
): RecordedCell | undefined {
  return cells.find(
    (cell) =>
      cell.scenario === scenario && cell.host === host && cell.mechanism === mechanism && includes(cell.params, params),
  );
}
