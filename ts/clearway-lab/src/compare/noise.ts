// SPDX-License-Identifier: MIT OR Apache-2.0
// The noise between two runs, from the cells whose code is the same in both: references, peers of the same version, A/A repeats.
import { differenceOfRuns, type Shift, spreadAroundOne } from "../statistics/run-noise.js";
import type { EstimatedCell } from "./estimate.js";
import { isCounted } from "./figures.js";
import type { MatchedCell } from "./match.js";

export interface RunNoise {
  /** Number of unchanged cells with an estimate. */
  cells: number;
  /** "measured" from the unchanged cells, or "assumed" because there are too few. */
  source: "measured" | "assumed";
  /**
   * The factor by which the whole machine was slower in B: the median ratio of the unchanged cells. The ratios of all cells are divided by
   * it. 1 if the noise is assumed.
   */
  shift: number;
  /** An upper estimate of the factor by which equal code differs beyond that: one standard deviation. */
  factor: number;
}

/** The noise of one estimate, as logarithms. */
export interface CellNoise {
  shift: number;
  spread: number;
  degrees: number;
}

/** Minimum number of unchanged cells for a measured noise. */
export const UNCHANGED_MIN = 8;

/**
 * The assumed noise, 6 % between two runs. Pairs of kept runs on one virtual machine had up to 5 % for the whole machine, and 1 to 4 %
 * for single cells beyond that.
 */
export const NOISE_ASSUMED = Math.log(1.06);

/** Minimum noise of a time: no pair of the kept runs had less than 1 %. */
const NOISE_MIN = Math.log(1.01);

/**
 * Degrees of freedom of the noise. They are few, because it has longer tails than a normal distribution: some cells move much more
 * between two runs than the others. Chosen by the simulation in docs/lab/compare.md.
 */
const DEGREES = 4;

export function estimateNoise(all: readonly EstimatedCell[]): RunNoise {
  const shifts = shiftsOf(all);
  const counted = all.length > 0 && all.every(({ cell }) => isCounted(cell.a.unit));
  const { shift, spread } = noiseOf(shifts, counted);
  return {
    cells: shifts.length,
    source: shifts.length < UNCHANGED_MIN ? "assumed" : "measured",
    shift: Math.exp(shift),
    factor: Math.exp(spread),
  };
}

/** Returns the noise for one cell. An unchanged cell is left out of its own noise, which would otherwise hide its difference. */
export function noiseFor(all: readonly EstimatedCell[], cell: MatchedCell): CellNoise {
  const others = cell.unchanged ? all.filter((each) => each.cell !== cell) : all;
  return noiseOf(shiftsOf(others), isCounted(cell.a.unit));
}

function shiftsOf(all: readonly EstimatedCell[]): Shift[] {
  return all.flatMap(({ cell, estimate }) => (cell.unchanged && estimate !== undefined ? [estimate] : []));
}

function noiseOf(shifts: readonly Shift[], counted: boolean): CellNoise {
  // A count does not depend on the speed of the machine.
  if (shifts.length >= UNCHANGED_MIN) {
    const { shift, spread } = differenceOfRuns(shifts);
    return { shift, spread: counted ? spread : Math.max(spread, NOISE_MIN), degrees: DEGREES };
  }
  const spread = spreadAroundOne(shifts);
  return { shift: 0, spread: counted ? spread : Math.max(spread, NOISE_ASSUMED), degrees: DEGREES };
}
