// SPDX-License-Identifier: MIT OR Apache-2.0
// Compares two kept runs, cell by cell. docs/lab/compare.md explains the method.
import { CONTROL_PARAM } from "../scenario/plan.js";
import { pairRounds } from "../statistics/compare-runs.js";
import { humpsOf, probabilityOfHumps } from "../statistics/humps.js";
import { type Difference, differencesOf } from "./differences.js";
import { estimateAll } from "./estimate.js";
import type { Figures, Metric } from "./figures.js";
import { cellKey, type KeptRun } from "./kept-run.js";
import { type MatchedCell, matchCells, type UnmatchedCell } from "./match.js";
import { estimateNoise, noiseFor, type RunNoise } from "./noise.js";
import { type ComparedCell, judge } from "./verdict.js";

export interface RunsCompared {
  a: KeptRun;
  b: KeptRun;
  /** Whether both files are of one and the same run. */
  sameRun: boolean;
  differences: Difference[];
  /** Whether rounds with the same number are compared with each other. */
  paired: boolean;
  noise: RunNoise;
  cells: ComparedCell[];
  /** Cells that only one run has, or that cannot be compared. */
  others: UnmatchedCell[];
}

export interface CompareOptions {
  metric?: Metric;
}

/** Compares two runs. Throws a KeptRunError if a record is malformed. */
export function compareKeptRuns(a: KeptRun, b: KeptRun, { metric }: CompareOptions = {}): RunsCompared {
  const differences = differencesOf(a.record, b.record);
  // On one machine, rounds of both runs meet the same trend: a machine that gets warm, for example.
  const paired = !differences.some(({ kind }) => kind === "machine");
  const { cells, others } = matchCells(a, b, metric);
  const estimated = estimateAll(a, b, cells, paired);
  const noise = estimateNoise(estimated);
  const humps = humpsOf(cells.flatMap(({ a: first, b: second }) => [first, second].map(logsOf)));
  const floors = floorsOf(cells);
  const compared = estimated
    .filter(({ cell }) => !cell.control)
    .map(({ cell, estimate, rounds }) => ({
      cell,
      rounds,
      rawEstimate: estimate,
      noise: noiseFor(estimated, cell),
      humps: (difference: number) => probabilityOfHumps(humps, difference, cell.a.rounds.length, cell.b.rounds.length),
      floor: floors(cell),
    }));
  const sameRun = a.record.seed === b.record.seed && a.record.startedAt === b.record.startedAt;
  return { a, b, sameRun, differences, paired, noise, cells: judge(compared), others };
}

/**
 * Returns a function that returns the A/A floor of a cell, as a logarithm: how much the two cells of an A/A pair differed inside a run,
 * in A or in B, whichever is more. It is the pair of the cell's own load, or else the largest of its scenario and host. 0 without a pair.
 */
function floorsOf(cells: readonly MatchedCell[]): (cell: MatchedCell) => number {
  const byKey = new Map(cells.map((cell) => [cell.key, cell]));
  const floors = cells
    .filter(({ control }) => control)
    .flatMap((repeat) => {
      const { [CONTROL_PARAM]: _, ...params } = repeat.params;
      const load = cellKey({ ...repeat, mechanism: "", params });
      const first = byKey.get(cellKey({ ...repeat, params }));
      if (first === undefined) return [];
      const logs = (["a", "b"] as const).map((side) =>
        Math.abs(meanLog(pairRounds(first[side].rounds, repeat[side].rounds))),
      );
      return [{ scenario: repeat.scenario, host: repeat.host, load, log: Math.max(...logs) }];
    });
  return (cell) => {
    const near = floors.filter(({ scenario, host }) => scenario === cell.scenario && host === cell.host);
    const load = cellKey({ ...cell, mechanism: "" });
    const own = near.filter((floor) => floor.load === load);
    return Math.max(0, ...(own.length > 0 ? own : near).map(({ log }) => log));
  };
}

const logsOf = ({ rounds }: Figures) => rounds.map(({ log }) => log);

function meanLog(figures: readonly { log: number }[]): number {
  return figures.length === 0 ? 0 : figures.reduce((sum, { log }) => sum + log, 0) / figures.length;
}
