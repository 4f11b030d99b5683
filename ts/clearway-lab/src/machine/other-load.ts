// SPDX-License-Identifier: MIT OR Apache-2.0
// How many cores other programs use while the lab rests. Works on every system, and before a page is open, whose processor time is unknown.
import os from "node:os";
import { setTimeout as sleep } from "node:timers/promises";

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
