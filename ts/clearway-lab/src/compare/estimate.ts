// SPDX-License-Identifier: MIT OR Apache-2.0
// Estimates the ratio of each cell from the rounds of two runs.
import { type Estimate, estimatePaired, estimateUnpaired, pairRounds } from "../statistics/compare-runs.js";
import { sharedCorrelation } from "../statistics/effective-size.js";
import { randomFrom } from "../statistics/random.js";
import { seedFrom, seedOf } from "./figures.js";
import type { KeptRun } from "./kept-run.js";
import type { MatchedCell } from "./match.js";

/** An estimate of a cell from the rounds alone. Undefined if there are fewer than two rounds. */
export interface EstimatedCell {
  cell: MatchedCell;
  rounds: number;
  estimate: Estimate | undefined;
}

/** Estimates all cells together, because they share the correlation of neighbouring rounds. */
export function estimateAll(a: KeptRun, b: KeptRun, cells: readonly MatchedCell[], paired: boolean): EstimatedCell[] {
  if (paired) {
    const pairs = cells.map((cell) => pairRounds(cell.a.rounds, cell.b.rounds));
    const shared = sharedCorrelation(pairs.map((each) => each.map(({ log }) => log)));
    return cells.map((cell, at) => {
      const own = pairs[at]!;
      const random = randomFrom(seedFrom(cell.key));
      return { cell, rounds: own.length, estimate: own.length < 2 ? undefined : estimatePaired(own, shared, random) };
    });
  }
  const sharedIn = (side: "a" | "b") => sharedCorrelation(cells.map((cell) => cell[side].rounds.map(({ log }) => log)));
  const shared = [sharedIn("a"), sharedIn("b")] as const;
  return cells.map((cell) => {
    const rounds = Math.min(cell.a.rounds.length, cell.b.rounds.length);
    const random = [a, b].map(({ record }) => randomFrom(seedOf(record, cell.key))) as [() => number, () => number];
    const estimate = rounds < 2 ? undefined : estimateUnpaired(cell.a.rounds, cell.b.rounds, shared, random);
    return { cell, rounds, estimate };
  });
}
