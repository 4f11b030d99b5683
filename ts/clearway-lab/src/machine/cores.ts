// SPDX-License-Identifier: MIT OR Apache-2.0
// The cores that a process may use, and its threads. The cores on which two threads run decide the cost of a message between them: on one
// core, a message takes a context switch (8 to 15 us per round trip on the virtual machine of the published figures); on two cores, it wakes
// a core that has halted (40 to 60 us).
import { execFileSync, spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

/** Returns the numbers of the cores that this process may use. Empty outside Linux. */
export function allowedCores(): number[] {
  try {
    const list = /^Cpus_allowed_list:\s*(.+)$/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1] ?? "";
    return list.split(",").flatMap((part) => {
      const [from = 0, to = from] = part.split("-").map(Number);
      return Array.from({ length: to - from + 1 }, (_, at) => from + at);
    });
  } catch {
    return [];
  }
}

/** Returns why threads cannot be pinned here, or undefined if they can. */
export function pinningProblem(): string | undefined {
  if (process.platform !== "linux")
    return `threads are pinned with taskset, which is Linux's: platform=${process.platform}`;
  if (allowedCores().length < 2) return "two cores are needed for threads that stand apart";
  try {
    execFileSync("taskset", ["--version"], { stdio: "ignore" });
  } catch {
    return "taskset is missing (Debian: apt-get install util-linux)";
  }
  return undefined;
}

/** Returns the ids of a process's threads. */
export function threadsOf(pid: number): number[] {
  return readdirSync(`/proc/${pid}/task`).map(Number);
}

/** Returns the core that a thread last ran on, and its processor time in ticks of 10 ms. */
export function threadStat(pid: number, thread: number): { core: number; ticks: number } {
  const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, "utf8");
  // Fields 39, 14 and 15 of the file. Counting starts after the thread's name, which may contain spaces and brackets.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return { core: Number(fields[36]), ticks: Number(fields[11]) + Number(fields[12]) };
}

// Pins the threads of a runner's process, so that the lab measures each state of the scheduler on purpose. A message between two threads
// costs a different time if both have one core than if each has its own.

/** The cores of a runner: one for all its threads, or one for the main thread and a second one for all other threads. */
export type RunnerCores = "one" | "two";

/** Interval between two scans for new threads, in milliseconds: while workers start, and while they run. */
const SCAN_STARTING_MS = 10;
const SCAN_RUNNING_MS = 100;
/** Time in milliseconds in which a runner starts its workers. Each measurement warms up for longer than that. */
const STARTING_MS = 500;

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
