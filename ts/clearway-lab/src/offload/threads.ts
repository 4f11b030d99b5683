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
export function watchThreads(): () => number | undefined {
  let most = threadCount();
  let going = true;
  const look = (): void => {
    if (!going) return;
    const now = threadCount();
    if (now !== undefined) most = Math.max(most ?? 0, now);
    setImmediate(look);
  };
  setImmediate(look);
  return () => {
    going = false;
    const now = threadCount();
    return now === undefined ? most : Math.max(most ?? 0, now);
  };
}
