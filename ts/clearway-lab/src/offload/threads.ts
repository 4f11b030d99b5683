// SPDX-License-Identifier: MIT OR Apache-2.0
// Counts the threads of this process, on systems that report them (Linux).
import { readdirSync } from "node:fs";

/** Returns the number of threads, or undefined if the system does not report it. */
export function threadCount(): number | undefined {
  try {
    return readdirSync("/proc/self/task").length;
  } catch {
    return undefined;
  }
}

/** Counts the threads in every turn of the event loop. The returned function stops the counting and returns the maximum. */
export function watchThreadCount(): () => number | undefined {
  let maximum = threadCount();
  let watching = true;
  const sample = (): void => {
    if (!watching) return;
    const now = threadCount();
    if (now !== undefined) maximum = Math.max(maximum ?? 0, now);
    setImmediate(sample);
  };
  setImmediate(sample);
  return () => {
    watching = false;
    const now = threadCount();
    return now === undefined ? maximum : Math.max(maximum ?? 0, now);
  };
}
