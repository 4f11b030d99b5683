// SPDX-License-Identifier: MIT OR Apache-2.0
// Measures a user's function directly and in a worker, part by part. At the limit, what was measured until then is the result.

import { median } from "../statistics/compare.js";
import { type FrameDrops, frameDropsOf, type ProbedRun, runThere } from "../timing/frame-drops.js";
import type { BothWays, Copy } from "./verdict.js";

export type { FrameDrops };

/** Number of measured calls of each way. The first call of each is not measured: it compiles the code and starts the worker. */
export const CALLS = 5;
/** Time in milliseconds after which a way gets no further call. */
const TIME_MS_MAX = 3000;

/** A part of a measurement, and how a reader knows it. */
export const PART_TITLES = {
  direct: "the direct calls",
  copy: "the copy of its arguments and result",
  worker: "the calls in a worker",
  comparison: "the comparison of the results",
} as const;
export type Part = keyof typeof PART_TITLES;

/** The limit of the measurement was reached. */
export class TimeOver extends Error {}

export interface FunctionMeasured extends BothWays {
  /** The number of direct calls of which the figures are medians. */
  calls: number;
  /** Whether the worker's result differs from the direct one. */
  isResultDifferent: boolean;
  /** The figures in the time of another device. `worker` is the same reason as without it if it cannot run there. */
  there?: BothWays;
  /** Present if the limit was reached: the part that was not finished, and the time of each part in milliseconds. */
  stopped?: { during: Part; spentMs: Partial<Record<Part, number>> };
}

/**
 * Measures both ways. `ask` runs a part once in the function's process, and rejects with TimeOver at the limit. With `ratio`, also returns
 * the figures of a device whose time is `ratio` times this one's. Rejects with the error of the direct call, or with TimeOver if no call
 * ended before the limit. A call that fails only in the worker is reported as `why`.
 */
export async function measureFunction(
  ask: (part: Part) => Promise<unknown>,
  ratio?: number,
  nowMs = () => performance.now(),
): Promise<FunctionMeasured> {
  const direct: ProbedRun[] = [];
  const worker: ProbedRun[] = [];
  const spentMs: Partial<Record<Part, number>> = {};
  let during: Part = "direct";
  const run = async <T>(part: Part): Promise<T> => {
    during = part;
    const beginMs = nowMs();
    try {
      return (await ask(part)) as T;
    } finally {
      spentMs[part] = (spentMs[part] ?? 0) + nowMs() - beginMs;
    }
  };
  /** Fills `runs`. Returns why a call failed in the worker. */
  const repeat = async (part: "direct" | "worker", runs: ProbedRun[]): Promise<string | undefined> => {
    let sumMs = 0;
    for (let n = 0; n <= CALLS && (n < 2 || sumMs < TIME_MS_MAX); n++) {
      const measured = await run<ProbedRun | { why: string }>(part);
      if ("why" in measured) return measured.why;
      // The first call compiles the code. It counts only if the limit ends the second one.
      if (n === 1) runs.length = 0;
      if (n > 0) sumMs += measured.totalMs;
      runs.push(measured);
    }
    return undefined;
  };
  let why: string | undefined;
  let copy: Copy | undefined;
  let isResultDifferent = false;
  let isStopped = false;
  try {
    await repeat("direct", direct);
    copy = (await run<Copy | null>("copy")) ?? undefined;
    why = await repeat("worker", worker);
    if (why === undefined) isResultDifferent = !(await run<boolean>("comparison"));
  } catch (error) {
    if (!(error instanceof TimeOver)) throw error;
    if (direct.length === 0) throw new TimeOver(`no call ended within the limit: ${error.message}`);
    isStopped = true;
  }
  const both = (scale: number, convert: (run: ProbedRun) => ProbedRun): BothWays => ({
    direct: medians(direct.map(convert)),
    worker:
      why !== undefined
        ? { why }
        : worker.length === 0
          ? { why: "no call in a worker ended within the limit", isOpen: true }
          : medians(worker.map(convert)),
    ...(copy && { copy: { argumentsMs: copy.argumentsMs * scale, resultMs: copy.resultMs * scale } }),
  });
  return {
    ...both(1, (each) => each),
    calls: direct.length,
    isResultDifferent,
    ...(ratio !== undefined && { there: both(ratio, (each) => runThere(each, ratio)) }),
    ...(isStopped && { stopped: { during, spentMs } }),
  };
}

/** The figures that are counts. The median of an even number of them is rounded. */
const COUNTS: ReadonlySet<string> = new Set<keyof FrameDrops>(["probes", "dropped60", "dropped120"]);

/** Returns the median of each figure. */
export function medians(runs: readonly ProbedRun[]): FrameDrops {
  const all = runs.map(frameDropsOf);
  const [first] = all as [FrameDrops, ...FrameDrops[]];
  const names = Object.keys(first) as (keyof FrameDrops)[];
  const figures = names.map((name) => {
    const middle = median(all.map((each) => each[name]));
    return [name, COUNTS.has(name) ? Math.round(middle) : middle];
  });
  return Object.fromEntries(figures) as FrameDrops;
}
