// SPDX-License-Identifier: MIT OR Apache-2.0
// The gate: fails only for cells that are slower than a limit, with evidence.
import { intervalOf } from "../statistics/compare-runs.js";
import { ROUNDS_MIN } from "../statistics/decide.js";
import { holm } from "../statistics/holm.js";
import { studentQuantile } from "../statistics/student.js";
import type { RunsCompared } from "./compare-kept-runs.js";
import type { CellName, UnmatchedCell } from "./match.js";
import { type ComparedCell, FALSE_ALARMS_MAX } from "./verdict.js";

export type GateStatus = "slower" | "undecided" | "within";

export interface GatedCell extends CellName {
  status: GateStatus;
  why?: string;
  ratio?: number;
  /** Lower end of the ratio, corrected for the number of cells: the true one is above it unless one of 20 gates is unlucky. */
  low?: number;
  /** Upper end of the ratio for this cell alone, at 95 %. */
  high?: number;
  rounds: number;
  /** Effective sample size: the number of rounds that count as independent. */
  effectiveRounds: number;
}

export interface Gate {
  max: number;
  /** "failed" if a cell is slower than the limit, or cannot be decided and `failUndecided` is set. */
  verdict: "passed" | "failed";
  failUndecided: boolean;
  /** All gated cells: slower first, then undecided. */
  cells: GatedCell[];
}

export interface GateOptions {
  /** The largest allowed ratio B / A of costs, at least 1. */
  max: number;
  /** Which cells to gate. Default: Clearway's own; without one, all. */
  selects?: (cell: CellName) => boolean;
  /** Whether a cell that cannot be decided fails the gate. Default: false. */
  failUndecided?: boolean;
}

/**
 * Applies the gate to a comparison. The p-values for "the ratio is at most `max`" are corrected by Holm's method, so that two equal runs
 * fail in at most one of 20 cases. Throws a RangeError if `max` is not a number of at least 1.
 */
export function gateRuns(compared: RunsCompared, { max, selects, failUndecided = false }: GateOptions): Gate {
  if (!(max >= 1 && Number.isFinite(max))) throw new RangeError(`a limit must be a number of at least 1: max=${max}`);
  const chosen = selects ?? defaultSelection(compared);
  const cells = compared.cells.filter(chosen);
  const tested = cells.filter(({ estimate, rounds }) => estimate !== undefined && rounds >= ROUNDS_MIN);
  const limit = Math.log(max);
  const probabilities = tested.map((cell) => cell.probabilityAbove!(limit));
  const corrected = holm(probabilities);
  const lows = lowerEnds(tested, probabilities);
  const position = new Map(tested.map((cell, at) => [cell, at]));
  const gated = cells.map((cell) => {
    const at = position.get(cell);
    return at === undefined ? undecided(cell) : gateOne(cell, limit, corrected[at]!, lows[at]!);
  });
  // A cell that only A has may have been lost, so the gate must not pass over it in silence. A new cell of B has nothing to be slower than.
  gated.push(...compared.others.filter((cell) => chosen(cell) && cell.onlyIn !== "B").map(undecidedOther));
  const fails = ({ status }: GatedCell) => status === "slower" || (failUndecided && status === "undecided");
  const rank = { slower: 0, undecided: 1, within: 2 };
  return {
    max,
    failUndecided,
    verdict: gated.some(fails) ? "failed" : "passed",
    cells: gated.sort((x, y) => rank[x.status] - rank[y.status] || (y.ratio ?? 0) - (x.ratio ?? 0)),
  };
}

function defaultSelection({ cells }: RunsCompared): (cell: CellName) => boolean {
  return cells.some(({ role }) => role === "clearway") ? ({ role }) => role === "clearway" : () => true;
}

/** Returns the lower ends at which Holm's method tests the cells: the smallest p-value against all cells, the next against one less. */
function lowerEnds(cells: readonly ComparedCell[], probabilities: readonly number[]): number[] {
  const order = probabilities.map((p, at) => ({ p, at })).sort((a, b) => a.p - b.p);
  const lows = new Array<number>(cells.length);
  for (const [rank, { at }] of order.entries()) {
    const { log, error, degrees } = cells[at]!.estimate!;
    const reach = error === 0 ? 0 : studentQuantile(FALSE_ALARMS_MAX / (cells.length - rank), degrees) * error;
    lows[at] = log - reach;
  }
  return lows;
}

function gateOne(cell: ComparedCell, limit: number, p: number, low: number): GatedCell {
  const { ratio, rounds, effectiveRounds, floor, estimate } = cell;
  const { high } = intervalOf(estimate!, 1 - 2 * FALSE_ALARMS_MAX);
  const gated = { ...nameOf(cell), rounds, effectiveRounds, ratio: ratio!, low: Math.exp(low), high: Math.exp(high) };
  if (p < FALSE_ALARMS_MAX) {
    if (estimate!.log > Math.log(floor)) return { ...gated, status: "slower" };
    return { ...gated, status: "undecided", why: `within the A/A floor of the runs (${floor.toPrecision(3)})` };
  }
  if (high <= limit) return { ...gated, status: "within" };
  if (low > limit) return { ...gated, status: "undecided", why: "two humps of equal code could look like this" };
  return { ...gated, status: "undecided" };
}

function undecided(cell: ComparedCell): GatedCell {
  const { ratio, rounds, effectiveRounds, why } = cell;
  return {
    ...nameOf(cell),
    status: "undecided",
    rounds,
    effectiveRounds,
    ...(ratio && { ratio }),
    ...(why && { why }),
  };
}

function undecidedOther(cell: UnmatchedCell): GatedCell {
  return { ...nameOf(cell), status: "undecided", rounds: 0, effectiveRounds: 0, why: cell.why };
}

function nameOf({ family, scenario, host, mechanism, role, params }: CellName): CellName {
  return { family, scenario, host, mechanism, role, params };
}
