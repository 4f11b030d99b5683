// SPDX-License-Identifier: MIT OR Apache-2.0
// Measures what this process holds. Linux has all of it; where /proc is missing, threads, files and children are left out.
import { readdirSync, readFileSync } from "node:fs";

const counted = (read) => {
  try {
    return read();
  } catch {
    return undefined;
  }
};

const children = () =>
  readdirSync("/proc/self/task").flatMap((thread) =>
    (counted(() => readFileSync(`/proc/self/task/${thread}/children`, "utf8")) ?? "").split(" ").filter(Boolean),
  ).length;

/**
 * Returns the process's memory in bytes, and its numbers of threads, open files, child processes, and handles that keep it running. Collects
 * garbage first, if Node runs with --expose-gc: the heap is then what is still in use.
 */
export function sample() {
  globalThis.gc?.();
  const { rss, heapUsed, external, arrayBuffers } = process.memoryUsage();
  return {
    rss,
    heap: heapUsed,
    buffers: external + arrayBuffers,
    threads: counted(() => Number(/^Threads:\s*(\d+)/m.exec(readFileSync("/proc/self/status", "utf8"))[1])),
    // Reading the folder opens it, so one file is not counted.
    files: counted(() => readdirSync("/proc/self/fd").length - 1),
    children: counted(children),
    handles: process.getActiveResourcesInfo().length,
  };
}
