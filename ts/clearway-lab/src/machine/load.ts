// SPDX-License-Identifier: MIT OR Apache-2.0
// What other programs use. Beside the engine's arms: the processor time of all programs on these cores, less that of the lab and of every
// process that the lab or one of its arms started, such as a server.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import os from "node:os";
import { setTimeout as sleep } from "node:timers/promises";

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
