// SPDX-License-Identifier: MIT OR Apache-2.0
// Pins the threads of a runner's process, so that the lab measures each state of the scheduler on purpose. A message between two threads
// costs a different time if both have one core than if each has its own; `cores.ts` has the figures.
import { spawn } from "node:child_process";
import { allowedCores, pinningProblem, threadStat, threadsOf } from "./cores.js";

/** The cores of a runner: one for all its threads, or one for the main thread and a second one for all other threads. */
export type RunnerCores = "one" | "two";

/** Interval between two scans for new threads, in milliseconds: while workers start, and while they run. */
const SCAN_STARTING_MS = 10;
const SCAN_RUNNING_MS = 100;
/** Time in milliseconds in which a runner starts its workers. Each measurement warms up for longer than that. */
const STARTING_MS = 500;

/** Returns the reason why this machine cannot pin a runner's threads, or undefined if it can. */
export function runnerPinningProblem(): string | undefined {
  return pinningProblem();
}

/** Returns the prefix of a runner's command that pins all its threads to the first core. */
export function oneCoreCommand(): string[] {
  return ["taskset", "-c", String(allowedCores()[0])];
}

/**
 * Pins the main thread of process `pid` to the first core, and every other thread to the second core. A new thread inherits the core of
 * the thread that started it, so this function scans for new threads until the returned function is called.
 */
export function keepOnTwoCores(pid: number): () => void {
  const [first, second] = allowedCores();
  const pinned = new Set<number>();
  const begin = performance.now();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const pinNewThreads = (): void => {
    let threads: number[];
    try {
      threads = threadsOf(pid);
    } catch {
      // The process has ended.
      return;
    }
    for (const thread of threads) {
      if (pinned.has(thread)) continue;
      pinned.add(thread);
      // A thread may have ended in the meantime. taskset then fails, which changes nothing.
      spawn("taskset", ["-pc", String(thread === pid ? first : second), String(thread)], { stdio: "ignore" }).on(
        "error",
        () => {},
      );
    }
    const elapsedMs = performance.now() - begin;
    timer = setTimeout(pinNewThreads, elapsedMs < STARTING_MS ? SCAN_STARTING_MS : SCAN_RUNNING_MS);
  };
  pinNewThreads();
  return () => clearTimeout(timer);
}

/** Interval between two samples of the threads' cores, in milliseconds. A sample reads a file per thread, which takes about 0.2 ms. */
const SAMPLE_MS = 20;

/**
 * Samples on which cores process `pid` runs its threads, until the returned function is called. This function returns the share of the samples
 * in which the main thread and the busiest other thread were on one core, in percent. It returns undefined outside Linux, and if the process
 * had no other thread that worked.
 */
export function watchCores(pid: number): () => number | undefined {
  const threads = new Map<number, { firstTicks: number; ticks: number; samples: number; together: number }>();
  // The time of a thread that starts later counts from its start.
  let isFirst = true;
  const sample = (): void => {
    try {
      const main = threadStat(pid, pid);
      for (const thread of threadsOf(pid)) {
        if (thread === pid) continue;
        const { ticks, core } = threadStat(pid, thread);
        const seen = threads.get(thread) ?? { firstTicks: isFirst ? ticks : 0, ticks, samples: 0, together: 0 };
        seen.ticks = ticks;
        seen.samples++;
        if (core === main.core) seen.together++;
        threads.set(thread, seen);
      }
    } catch {
      // The process or a thread has ended, or this is not Linux.
    }
  };
  sample();
  isFirst = false;
  const timer = setInterval(sample, SAMPLE_MS);
  return () => {
    clearInterval(timer);
    sample();
    const [busiest] = [...threads.values()].sort((a, b) => b.ticks - b.firstTicks - (a.ticks - a.firstTicks));
    if (busiest === undefined || busiest.ticks === busiest.firstTicks) return undefined;
    return (busiest.together / busiest.samples) * 100;
  };
}
