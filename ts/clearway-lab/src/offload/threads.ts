// SPDX-License-Identifier: MIT OR Apache-2.0
// How many threads this process has, where the system tells (Linux).
import { readdirSync } from "node:fs";

/** Undefined where nothing tells. */
export function threadCount(): number | undefined {
  try {
    return readdirSync("/proc/self/task").length;
  } catch {
    return undefined;
  }
}

/** Looks at every turn of the event loop until it is stopped; the most that it has seen. */
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
