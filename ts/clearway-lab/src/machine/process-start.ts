// SPDX-License-Identifier: MIT OR Apache-2.0
// Tells whether a process still runs, although the system reuses the numbers of processes.
import { readFileSync } from "node:fs";

/** Position of the start time in /proc/PID/stat, counted after the name in brackets, which may hold spaces. */
const START_FIELD = 19;

/** Returns when a process started, in ticks since the machine did. Returns null where the system does not say it. */
export function processStart(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[START_FIELD] ?? null;
  } catch {
    return null;
  }
}

/** Returns whether a process runs. `start` is what `processStart` returned for it: another value means another process. */
export function isRunning(pid: number, start: string | null): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // EPERM: the process runs, and belongs to another user.
    if ((error as NodeJS.ErrnoException).code !== "EPERM") return false;
  }
  const now = processStart(pid);
  return start === null || now === null || now === start;
}
