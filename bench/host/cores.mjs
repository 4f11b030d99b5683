// SPDX-License-Identifier: MIT OR Apache-2.0
// Which core a thread runs on decides what a message costs: on one core a hand-over is a context switch (8 to 15 us a
// round trip here), on two it is waking a core that has halted (40 to 60 us), or one that was kept awake (about 28). The
// scheduler changes its mind between rounds. So a run says which of the three it is:
//
//   apart    the calling thread on one core, the workers on another; cores halt when they have nothing to do
//   awake    the same, and an endless loop at idle priority (SCHED_IDLE) on both cores, so that none ever halts
//   free     the scheduler decides; how often both threads were seen on one core stands beside the figures
import { execFileSync, spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

export const states = ["apart", "awake", "free"];

export const stateText = {
  apart: "each thread on its own core",
  awake: "the same, cores kept awake",
  free: "where the scheduler puts them",
};

/** The cores that this process may use: pinning is by their numbers. Empty outside Linux. */
export function allowedCores() {
  try {
    const list = /^Cpus_allowed_list:\s*(.+)$/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1] ?? "";
    return list.split(",").flatMap((part) => {
      const [from, to = from] = part.split("-").map(Number);
      return Array.from({ length: to - from + 1 }, (_, at) => from + at);
    });
  } catch {
    return [];
  }
}

/** Why threads cannot be told where to run, or undefined when they can. */
export function whyNot(state) {
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

/** Threads of a process, by number; `name` filters by what the system calls them. */
export function threadsOf(pid, name) {
  const all = readdirSync(`/proc/${pid}/task`).map(Number);
  if (name === undefined) return all;
  return all.filter((thread) => name.test(readFileSync(`/proc/${pid}/task/${thread}/comm`, "utf8")));
}

/** Puts the calling thread of a process on the first core and the given threads on the second. */
export function standApart(pid, workers) {
  const [first, second] = allowedCores();
  execFileSync("taskset", ["-pc", String(first), String(pid)], { stdio: "ignore" });
  for (const thread of workers) {
    try {
      execFileSync("taskset", ["-pc", String(second), String(thread)], { stdio: "ignore" });
    } catch (error) {
      // A helper thread may have ended since it was listed; that one needs no core.
      if (threadsOf(pid).includes(thread)) throw error;
    }
  }
}

/** The core that a thread of this process ran on last. */
export function coreOf(thread) {
  const stat = readFileSync(`/proc/self/task/${thread}/stat`, "utf8");
  // Field 39, counted from behind the name, which may hold spaces and brackets.
  return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[36]);
}

/** Runs something while no core halts. */
export async function keptAwake(use) {
  const loops = allowedCores().map((core) =>
    spawn("chrt", ["-i", "0", "taskset", "-c", String(core), process.execPath, "-e", "for (;;);"], { stdio: "ignore" }),
  );
  try {
    return await use();
  } finally {
    for (const loop of loops) loop.kill("SIGKILL");
  }
}
