// SPDX-License-Identifier: MIT OR Apache-2.0
// Counts the false alarms of the gate and of the verdicts, and the changes that they find, over simulated pairs of runs.
import { compareKeptRuns } from "../../src/compare/compare-kept-runs.js";
import { gateRuns } from "../../src/compare/gate.js";
import { type Simulation, simulator } from "./simulated-runs.js";

export { compareKeptRuns, gateRuns };

export interface Rates {
  pairs: number;
  /** Share of the pairs of equal runs that fail the gate, by its limit. */
  falseAlarms: Record<string, number>;
  /** Share of the pairs of equal runs with any verdict "slower" or "faster". */
  falseVerdicts: number;
  /** Share of the cells of equal runs with the verdict "no difference". */
  noDifference: number;
}

/** Compares `pairs` pairs of equal runs. Each ten pairs have other cells. */
export function falseAlarms(seed: number, pairs: number, simulation: Simulation, limits: readonly number[]): Rates {
  const failed = new Map(limits.map((limit) => [String(limit), 0]));
  let wrong = 0;
  let same = 0;
  let cells = 0;
  eachPair(seed, pairs, simulation, [], (compared) => {
    for (const max of limits)
      if (gateRuns(compared, { max }).verdict === "failed") failed.set(String(max), failed.get(String(max))! + 1);
    if (compared.cells.some(({ verdict }) => verdict === "slower" || verdict === "faster")) wrong++;
    cells += compared.cells.length;
    same += compared.cells.filter(({ verdict }) => verdict === "no difference").length;
  });
  return {
    pairs,
    falseAlarms: Object.fromEntries([...failed].map(([limit, count]) => [limit, count / pairs])),
    falseVerdicts: wrong / pairs,
    noDifference: same / cells,
  };
}

/** A gate on all cells of Clearway, or on the changed one alone. */
export interface TriedGate {
  max: number;
  alone: boolean;
}

/** Returns the share of pairs in which each gate finds that one cell of Clearway became slower by `factor`. */
export function power(
  seed: number,
  pairs: number,
  simulation: Simulation,
  factor: number,
  gates: readonly TriedGate[],
): number[] {
  const found = gates.map(() => 0);
  const isChanged = ({ mechanism }: { mechanism: string }) => mechanism === "clearway-0";
  eachPair(seed, pairs, simulation, [factor], (compared) => {
    for (const [at, { max, alone }] of gates.entries()) {
      const { cells } = gateRuns(compared, { max, ...(alone ? { selects: isChanged } : {}) });
      if (cells.some((cell) => isChanged(cell) && cell.status === "slower")) found[at]!++;
    }
  });
  return found.map((count) => count / pairs);
}

function eachPair(
  seed: number,
  pairs: number,
  simulation: Simulation,
  factors: readonly number[],
  use: (compared: ReturnType<typeof compareKeptRuns>) => void,
): void {
  let next = simulator(seed, simulation);
  for (let pair = 0; pair < pairs; pair++) {
    if (pair % 10 === 0) next = simulator(seed + pair, simulation);
    const { a, b } = next(factors);
    use(compareKeptRuns(a, b));
  }
}
