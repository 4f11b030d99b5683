// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests the findings of the published experiments with a record. A finding agrees if every round's number is within its bounds, and differs
// if every round's number is outside.
import { type CellFigure, type Finding, figuresOf, includes } from "../scenario/experiment.js";
import { median } from "../statistics/rounds.js";
import { byRound, type RecordedCell, type RunRecord } from "./record.js";

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
  /** Whether an added run measured all of its cells, or some. Absent if it measured none. */
  added?: "all" | "some";
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
  const addedCount = cells.filter((cell) => cell?.added !== undefined).length;
  return {
    finding,
    outcome: outcomeOf(finding, numbers),
    numbers,
    number,
    ...(unit === undefined ? {} : { unit }),
    ...(addedCount === 0 ? {} : { added: addedCount === cells.length ? "all" : "some" }),
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

function outcomeOf({ min, max }: Finding, numbers: readonly number[]) {
  const within = numbers.filter((number) => number >= min && number <= max).length;
  return within === numbers.length ? "agrees" : within === 0 ? "differs" : "open";
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
