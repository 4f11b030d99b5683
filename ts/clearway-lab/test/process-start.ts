// SPDX-License-Identifier: MIT OR Apache-2.0
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
