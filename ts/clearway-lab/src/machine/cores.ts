// SPDX-License-Identifier: MIT OR Apache-2.0
// The cores that a process may use, and its threads. The cores on which two threads run decide the cost of a message between them: on one
// core, a message takes a context switch (8 to 15 us per round trip on the virtual machine of the published figures); on two cores, it wakes
// a core that has halted (40 to 60 us).
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

/** Returns the numbers of the cores that this process may use. Empty outside Linux. */
export function allowedCores(): number[] {
  try {
    const list = /^Cpus_allowed_list:\s*(.+)$/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1] ?? "";
    return list.split(",").flatMap((part) => {
      const [from = 0, to = from] = part.split("-").map(Number);
      return Array.from({ length: to - from + 1 }, (_, at) => from + at);
    });
  } catch {
    return [];
  }
}

/** Returns why threads cannot be pinned here, or undefined if they can. */
export function pinningProblem(): string | undefined {
  if (process.platform !== "linux")
    return `threads are pinned with taskset, which is Linux's: platform=${process.platform}`;
  if (allowedCores().length < 2) return "two cores are needed for threads that stand apart";
  try {
    execFileSync("taskset", ["--version"], { stdio: "ignore" });
  } catch {
    return "taskset is missing (Debian: apt-get install util-linux)";
  }
  return undefined;
}

/** Returns the ids of a process's threads. */
export function threadsOf(pid: number): number[] {
  return readdirSync(`/proc/${pid}/task`).map(Number);
}

/** Returns the core that a thread last ran on, and its processor time in ticks of 10 ms. */
export function threadStat(pid: number, thread: number): { core: number; ticks: number } {
  const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, "utf8");
  // Fields 39, 14 and 15 of the file. Counting starts after the thread's name, which may contain spaces and brackets.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return { core: Number(fields[36]), ticks: Number(fields[11]) + Number(fields[12]) };
}
