// SPDX-License-Identifier: MIT OR Apache-2.0
// The cores that a process may use, its threads, and what other programs use. The cores on which two threads run decide the cost of a message
// between them: on one core, a message takes a context switch (8 to 15 us per round trip on the virtual machine of the published figures); on
// two cores, it wakes a core that has halted (40 to 60 us).
import { execFileSync, spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import os from "node:os";
import { setTimeout as sleep } from "node:timers/promises";

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
function threadStat(pid: number, thread: number): { core: number; ticks: number } {
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

// What other programs use. Beside the engine's arms: the processor time of all programs on these cores, less that of the lab and of every
// process that the lab or one of its arms started, such as a server.

export interface Reading {
  /** Time for which the cores have worked since the machine's start, in milliseconds. */
  busyMs: number;
  /** Processor time of the lab and of what it started, in milliseconds. */
  ownMs: number;
  nowMs: number;
  cores: number;
}

/**
 * Reads the processor times of these cores. Linux counts in steps of 10 ms, so two readings should be some 100 ms apart. Returns undefined
 * where the machine does not tell.
 */
export function readLoad(cores: readonly number[]): Reading | undefined {
  const all = os.cpus();
  const read = cores.map((core) => all[core]).filter((each) => each !== undefined);
  if (read.length === 0 || !existsSync("/proc/self/stat")) return undefined;
  const busyMs = read.reduce((sum, { times }) => sum + times.user + times.nice + times.sys + times.irq, 0);
  return { busyMs, ownMs: familyMs(readStats(), process.pid), nowMs: performance.now(), cores: read.length };
}

/** Returns the share of the cores that other programs used between two readings, from 0 to 1. */
export function otherShare(before: Reading | undefined, after: Reading | undefined): number | undefined {
  if (before === undefined || after === undefined || after.nowMs <= before.nowMs) return undefined;
  const others = after.busyMs - before.busyMs - (after.ownMs - before.ownMs);
  return Math.min(1, Math.max(0, others / ((after.nowMs - before.nowMs) * after.cores)));
}

/** Returns the texts of /proc/PID/stat of all processes. */
function readStats(): string[] {
  return readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      return readFileSync(`/proc/${name}/stat`, "utf8");
    } catch {
      // The process has ended in the meantime. Its parent has its time.
      return [];
    }
  });
}

const TICK_MS = 10;

/**
 * Returns the processor time in milliseconds of a process and of all that descend from it, those that have ended included. `stats` has the
 * texts of /proc/PID/stat.
 */
export function familyMs(stats: readonly string[], root: number): number {
  const children = new Map<number, number[]>();
  const ticks = new Map<number, number>();
  for (const stat of stats) {
    const pid = Number.parseInt(stat, 10);
    // Counting starts after the program's name, which may contain spaces and brackets: fields 4, and 14 to 17 of the file.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const parent = Number(fields[1]);
    children.set(parent, [...(children.get(parent) ?? []), pid]);
    // Its own time, and that of the children which it has waited for.
    ticks.set(
      pid,
      fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0),
    );
  }
  const sumOf = (pid: number): number =>
    (children.get(pid) ?? []).reduce((sum, child) => sum + sumOf(child), ticks.get(pid) ?? 0);
  return sumOf(root) * TICK_MS;
}

// Before a page is open, whose processor time is unknown, and on every system: how many cores other programs use while the lab rests.

/** Length of a rest in milliseconds: twenty steps of a CPU clock that counts in 10 ms. */
const REST_MS = 200;

/** What the machine tells. Tests replace it. */
export interface LoadSource {
  /** Returns the time for which all CPUs have worked since the machine's start, in milliseconds. */
  busyMs(): number;
  nowMs(): number;
  rest(ms: number): Promise<unknown>;
}

const MACHINE: LoadSource = {
  busyMs: () => os.cpus().reduce((sum, { times }) => sum + times.user + times.nice + times.sys + times.irq, 0),
  nowMs: () => performance.now(),
  rest: (ms) => sleep(ms),
};

/** Rests, and returns the mean number of cores that other programs used meanwhile, to two decimals. */
export async function otherCores(source: LoadSource = MACHINE): Promise<number> {
  const [busyMs, nowMs] = [source.busyMs(), source.nowMs()];
  await source.rest(REST_MS);
  const cores = (source.busyMs() - busyMs) / (source.nowMs() - nowMs);
  return Number(Math.max(0, cores).toFixed(2));
}
