// SPDX-License-Identifier: MIT OR Apache-2.0
// The cores on which two threads run decide the cost of a message between them. On one core, a message takes a context switch
// (8 to 15 us per round trip on the virtual machine of the published figures). On two cores, a message wakes a core that has
// halted (40 to 60 us) or reaches one that was kept awake (about 28 us). The scheduler moves threads between rounds. Each run
// therefore names one of three states:
//
//   apart    the calling thread has one core, the workers have another; idle cores halt
//   awake    the same, but an endless loop at idle priority (SCHED_IDLE) on both cores keeps them from halting
//   free     the scheduler decides; the results say how often both threads were seen on one core
import { execFileSync, spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

export const CORE_STATES = ["apart", "awake", "free"] as const;
export type CoreState = (typeof CORE_STATES)[number];

export const CORE_STATE_TEXT: Record<CoreState, string> = {
  apart: "each thread on its own core",
  awake: "the same, cores kept awake",
  free: "where the scheduler puts them",
};

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

/** Returns why threads cannot be pinned for a state, or undefined if they can. */
export function pinningProblem(state: CoreState): string | undefined {
  if (state === "free") return undefined;
  if (process.platform !== "linux")
    return `threads are pinned with taskset, which is Linux's: platform=${process.platform}`;
  if (allowedCores().length < 2) return "two cores are needed for threads that stand apart";
  for (const tool of state === "awake" ? ["taskset", "chrt"] : ["taskset"]) {
    try {
      execFileSync(tool, ["--version"], { stdio: "ignore" });
    } catch {
      return `${tool} is missing (Debian: apt-get install util-linux)`;
    }
  }
  return undefined;
}

/** Returns the ids of a process's threads. `name` selects threads by their names in the system. */
export function threadsOf(pid: number, name?: RegExp): number[] {
  const ids = readdirSync(`/proc/${pid}/task`).map(Number);
  if (name === undefined) return ids;
  return ids.filter((thread) => name.test(readFileSync(`/proc/${pid}/task/${thread}/comm`, "utf8")));
}

/** Pins a process's main thread to the first core and the given threads to the second core. */
export function pinToTwoCores(pid: number, workers: readonly number[]): void {
  const [first, second] = allowedCores();
  execFileSync("taskset", ["-pc", String(first), String(pid)], { stdio: "ignore" });
  for (const thread of workers) {
    try {
      execFileSync("taskset", ["-pc", String(second), String(thread)], { stdio: "ignore" });
    } catch (error) {
      // Ignores a thread that has ended since it was listed.
      if (threadsOf(pid).includes(thread)) throw error;
    }
  }
}

/** Returns the core that a thread of this process last ran on. */
export function coreOf(thread: number): number {
  return threadStat(process.pid, thread).core;
}

/** Returns the core that a thread last ran on, and its processor time in ticks of 10 ms. */
export function threadStat(pid: number, thread: number): { core: number; ticks: number } {
  const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, "utf8");
  // Fields 39, 14 and 15 of the file. Counting starts after the thread's name, which may contain spaces and brackets.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return { core: Number(fields[36]), ticks: Number(fields[11]) + Number(fields[12]) };
}

/** Calls `use` while endless loops keep all cores from halting. Ends the loops, even if `use` rejects. */
export async function withCoresAwake<T>(use: () => Promise<T>): Promise<T> {
  const loops = allowedCores().map((core) =>
    spawn("chrt", ["-i", "0", "taskset", "-c", String(core), process.execPath, "-e", "for (;;);"], { stdio: "ignore" }),
  );
  const end = () => {
    for (const loop of loops) loop.kill("SIGKILL");
  };
  // A second Ctrl-C ends the process at once; this listener then ends the loops.
  process.once("exit", end);
  try {
    return await use();
  } finally {
    process.off("exit", end);
    end();
  }
}
