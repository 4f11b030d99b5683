// SPDX-License-Identifier: MIT OR Apache-2.0
// Measures one pair: two arms that take turns, slice by slice, so that both meet the same state of the machine.
import type { Arm, Costs } from "../protocol/arm.js";
import { quantile, sliceCost, trimmedMean } from "./estimate.js";

/** How a comparison is sliced. */
export interface Slicing {
  /** Length of a slice in milliseconds. */
  ms: number;
  /** Minimum number of runs in a slice. */
  runs: number;
  /** Number of blocks in a pair. A block has two slices of each arm. */
  blocks: number;
  /** Minimum number of pairs before an answer. */
  pairsMin: number;
  /** Whether a cost is a delay at a given pace. Its median counts, not its lower quartile. */
  isPaced?: boolean;
}

/** What a pair found. */
export interface Pair {
  /** The logarithm of the ratio subject / reference. */
  log: number;
  /** The median cost of the slices, in nanoseconds. */
  subjectNs: number;
  referenceNs: number;
  /** Whether the ratio still moved at the end, although more slices were measured. */
  stillWarming: boolean;
}

/** The time of the run is over. */
export class TimeOver extends Error {}

/** A warm-up of `calls` calls of this work. 0: the call with which an arm starts has warmed it up. */
export interface WarmUp {
  work: string;
  calls: number;
}

/** Number of calls that warms up what takes microseconds. The optimiser compiles code that has run a few thousand times. */
export const WARM_CALLS = 8000;
/** Slower work is warm after this processor time instead, in milliseconds. */
const CPU_MS = 1000;
/** The warm-up's windows: their length in milliseconds, how many without a gain end it, and the least gain. */
const WINDOW = { ms: 40, quiet: 3, gain: 0.03 };
/** Processor time after which a warm-up ends in any case, in milliseconds. */
const CPU_MS_MAX = 3000;
/** Maximum number of windows. Work that waits uses little processor time. */
const WINDOWS_MAX = 12;

/**
 * Warms one kind of work up. Counts calls and processor time, never elapsed time, so that the heavier mechanism gets as many calls as the
 * lighter one. Ends when windows stop getting faster.
 */
export async function warmUp(arm: Arm, { work, calls }: WarmUp): Promise<void> {
  if (calls === 0) return;
  let { cpuMs } = await arm.warm(work, calls, CPU_MS);
  let best = Number.POSITIVE_INFINITY;
  for (let quiet = 0, windows = 0; quiet < WINDOW.quiet && windows < WINDOWS_MAX && cpuMs < CPU_MS_MAX; windows++) {
    const window = await arm.slice(work, WINDOW.ms, 1);
    cpuMs += window.cpuMs;
    const cost = sliceCost(window.costsNs, false);
    quiet = cost < best * (1 - WINDOW.gain) ? 0 : quiet + 1;
    best = Math.min(best, cost);
  }
}

/** Gives the next slice of an arm. A fresh process for each slice is another way to do it. */
export type TakeSlice = (side: "subject" | "reference") => Promise<Costs>;

/**
 * Measures a pair. Each block is ABBA, its first arm drawn at random. If the ratio of the last third differs from that of the first third by
 * more than 3 % and more than chance explains, drops the first third and measures as much again. If `take` rejects with TimeOver, the pair
 * ends with the neighbours so far, and rejects if there are none.
 */
export async function measurePair(
  take: TakeSlice,
  { blocks, isPaced = false }: Slicing,
  random: () => number,
): Promise<Pair> {
  const logs: number[] = [];
  const costs = { subject: [] as number[], reference: [] as number[] };
  const cost = async (side: "subject" | "reference"): Promise<number> => {
    const ns = sliceCost((await take(side)).costsNs, isPaced);
    costs[side].push(ns);
    return ns;
  };
  /** Number of ratios in whole blocks. */
  let whole = 0;
  const block = async (): Promise<void> => {
    const first = random() < 0.5 ? "subject" : "reference";
    const second = first === "subject" ? "reference" : "subject";
    const sign = first === "subject" ? 1 : -1;
    // The neighbours are compared, A with B and then B with A, so that a drift within the block cancels.
    for (const [one, other] of [
      [first, second],
      [second, first],
    ] as const) {
      const [a, b] = [await cost(one), await cost(other)];
      logs.push((one === first ? sign : -sign) * Math.log(a / b));
    }
    whole = logs.length;
  };
  let stillWarming = false;
  try {
    for (let i = 0; i < blocks; i++) await block();
    if (isMoving(logs)) {
      stillWarming = true;
      const third = Math.floor(logs.length / 3);
      logs.splice(0, third);
      whole = logs.length;
      for (let i = 0; i < Math.ceil(third / 2); i++) await block();
      stillWarming = isMoving(logs);
    }
  } catch (error) {
    if (!(error instanceof TimeOver) || whole === 0) throw error;
    // Half a block has one order only.
    logs.length = whole;
    stillWarming = isMoving(logs);
  }
  return {
    log: trimmedMean(logs),
    subjectNs: quantile(costs.subject, 0.5),
    referenceNs: quantile(costs.reference, 0.5),
    stillWarming,
  };
}

/** Least number of ratios whose thirds can be compared. */
const RATIOS_MIN = 12;
const MOVES = 0.03;
/** A difference of the thirds counts from this many of its standard errors: one pair of thirds in a thousand differs so by chance. */
const ERRORS = 3.3;

/** Returns whether the last third of the ratios differs from the first one by more than 3 %, and by more than chance. */
function isMoving(logs: readonly number[]): boolean {
  if (logs.length < RATIOS_MIN) return false;
  const third = Math.floor(logs.length / 3);
  const [first, last] = [logs.slice(0, third), logs.slice(-third)];
  const [a, b] = [trimmedMean(first), trimmedMean(last)];
  const variance = (values: readonly number[]): number => {
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    return values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1);
  };
  const error = Math.sqrt((variance(first) + variance(last)) / third);
  return Math.abs(a - b) > MOVES && Math.abs(a - b) > ERRORS * error;
}
