// SPDX-License-Identifier: MIT OR Apache-2.0
import { readFileSync } from "node:fs";

/**
 * Returns whether a process has ended. On Linux, an ended process stays in the list of processes until its parent asks for its exit status.
 * The parent of an orphan is the machine's first process, which may take its time.
 */
export function hasEnded(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return true;
  }
  try {
    // The state comes after the name, which is in parentheses and may contain any character.
    return /\) Z [^)]*$/.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return process.platform === "linux";
  }
}

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
