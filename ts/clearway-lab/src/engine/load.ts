// SPDX-License-Identifier: MIT OR Apache-2.0
// How much of the arms' cores other programs used: the processor time of all programs on these cores, less that of the arms and the lab.
import os from "node:os";

export interface Reading {
  /** Time for which the cores have worked since the machine's start, and the processor time of this process, in milliseconds. */
  busyMs: number;
  labMs: number;
  nowMs: number;
  cores: number;
}

/** Reads the processor times of these cores. Linux counts in steps of 10 ms, so two readings should be some 100 ms apart. */
export function readLoad(cores: readonly number[]): Reading | undefined {
  const all = os.cpus();
  const read = cores.map((core) => all[core]).filter((each) => each !== undefined);
  if (read.length === 0) return undefined;
  const busyMs = read.reduce((sum, { times }) => sum + times.user + times.nice + times.sys + times.irq, 0);
  const { user, system } = process.cpuUsage();
  return { busyMs, labMs: (user + system) / 1000, nowMs: performance.now(), cores: read.length };
}

/** Returns the share of the cores that other programs used between two readings, from 0 to 1. `armsMs` is the arms' processor time. */
export function otherShare(
  before: Reading | undefined,
  after: Reading | undefined,
  armsMs: number,
): number | undefined {
  if (before === undefined || after === undefined || after.nowMs <= before.nowMs) return undefined;
  const others = after.busyMs - before.busyMs - (after.labMs - before.labMs) - armsMs;
  return Math.min(1, Math.max(0, others / ((after.nowMs - before.nowMs) * after.cores)));
}
