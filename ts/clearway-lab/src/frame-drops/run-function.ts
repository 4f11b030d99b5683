// SPDX-License-Identifier: MIT OR Apache-2.0
// Calls a user's function on this thread and in a worker of Clearway's pool, both under the probe.
import { pool } from "clearway";
import { isSame } from "../bench/same-result.js";
import { StepError, type Steps } from "../bench/steps.js";
import { describeThrown } from "../bench/thrown.js";
import {
  type FrameDrops,
  frameDropsOf,
  measureFrameDrops,
  type ProbedRun,
  runThere,
} from "../mechanism/frame-drops.js";
import { median } from "../statistics/compare.js";
import { TASK } from "./find-function.js";
import type { BothWays } from "./verdict.js";

export type { FrameDrops };

/** Number of measured calls of each way. The first call of each is not measured: it compiles the code and starts the worker. */
export const CALLS = 5;
/** Time in milliseconds after which a way gets no further call. */
const TIME_MS_MAX = 3000;

export interface UserFunction {
  call: (...args: unknown[]) => unknown;
  /** The function's name, which is also its task if its file exposes tasks. */
  name: string;
  /** The compiled text of `taskModuleOf`. */
  taskUrl: string;
}

export interface FunctionMeasured extends BothWays {
  calls: number;
  /** Whether the worker's result differs from the direct one. */
  isResultDifferent: boolean;
  /** The figures in the time of another device. `worker` is the same reason as without it if it cannot run there. */
  there?: BothWays;
}

/**
 * Measures both ways. With `ratio`, also returns the figures of a device whose time is `ratio` times this one's. Rejects with a StepError
 * if the direct call fails. A call that fails only in the worker is reported as `why`.
 */
export async function measureFunction(
  { call, name, taskUrl }: UserFunction,
  args: unknown[],
  steps: Steps,
  ratio?: number,
): Promise<FunctionMeasured> {
  // The function may change its arguments, so each call gets its own.
  const direct = () => call(...structuredClone(args));
  const expected = await steps.run("the function", direct);
  const runs = await repeat(() => steps.run("the function", () => measureFrameDrops(direct)));
  const summary = (worker: ProbedRun[] | { why: string }, isResultDifferent = false): FunctionMeasured => {
    const both = (convert: (run: ProbedRun) => ProbedRun): BothWays => ({
      direct: medians(runs.map(convert)),
      worker: "why" in worker ? worker : medians(worker.map(convert)),
    });
    const there = ratio === undefined ? undefined : both((run) => runThere(run, ratio));
    return { ...both((run) => run), calls: runs.length, isResultDifferent, ...(there && { there }) };
  };
  const workers = pool(new URL(taskUrl), { size: 1, name: "measure" });
  try {
    const tasks = workers.call as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;
    const remoteOf = (task: string) => () =>
      (tasks[task] as (...args: unknown[]) => Promise<unknown>)(...structuredClone(args));
    const task = await steps.run("the call in a worker", () => taskOf(remoteOf(TASK), name));
    const remote = remoteOf(task);
    const answer = await steps.run("the call in a worker", remote);
    const worker = await repeat(() => steps.run("the call in a worker", () => measureFrameDrops(remote)));
    return summary(worker, !isSame(expected, answer));
  } catch (error) {
    const why = error instanceof StepError ? error.message : describeThrown(error);
    return summary({ why });
  } finally {
    // The process ends after its answer, so the worker need not end in order.
    void workers.terminate();
  }
}

/** Returns the name of the task that calls the function. Calls `first`, the task of Clearway's own module, to find out. */
async function taskOf(first: () => Promise<unknown>, name: string): Promise<string> {
  try {
    await first();
    return TASK;
  } catch (error) {
    if ((error as { code?: unknown } | null)?.code === "unknown-task") return name;
    throw error;
  }
}

async function repeat(run: () => Promise<ProbedRun>): Promise<ProbedRun[]> {
  const runs: ProbedRun[] = [];
  let spentMs = 0;
  while (runs.length < CALLS && (runs.length === 0 || spentMs < TIME_MS_MAX)) {
    const { totalMs, lagsMs } = await run();
    runs.push({ totalMs, lagsMs });
    spentMs += totalMs;
  }
  return runs;
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
