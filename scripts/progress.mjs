// SPDX-License-Identifier: MIT OR Apache-2.0
// Decides whether a process and its children still make progress. A stage of `make test` ends when it makes none, never because it is slow.
import { readdirSync, readFileSync } from "node:fs";

/** Time without progress after which a stage is ended, in minutes. */
export const idleMinutesMax = 10;

/** Number of samples in that time. */
export const samplesMax = 20;

// A process that only polls uses less than this share of one core. A process that computes gets more on any machine that could finish a test.
const idleShareMax = 0.01;

// Linux gives processor times in hundredths of a second: `man 5 proc`.
const tickMs = 10;

/** Returns the processes of `/proc/PID/stat`: `{ pid, parent, group, cpuMs }`. `cpuMs` includes the children that have ended. */
function processes() {
  const found = [];
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    let text;
    try {
      text = readFileSync(`/proc/${pid}/stat`, "utf8");
    } catch {
      continue; // The process has ended.
    }
    // The name of the program, in parentheses, may contain spaces. The fields are numbered as in the manual, from the third one on.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    const field = (number) => Number(fields[number - 3]);
    const ticks = field(14) + field(15) + field(16) + field(17);
    found.push({ pid: Number(pid), parent: field(4), group: field(5), cpuMs: ticks * tickMs });
  }
  return found;
}

/**
 * Returns the processor time, in milliseconds, that the processes of this group and their children have used. Includes children in other
 * groups, such as browsers. Returns undefined on a system without Linux's /proc.
 */
export function processorTimeOf(group) {
  let all;
  try {
    all = processes();
  } catch {
    return undefined;
  }
  const members = new Set(all.filter((each) => each.group === group).map(({ pid }) => pid));
  for (let size = -1; size !== members.size; ) {
    size = members.size;
    for (const { pid, parent } of all) if (members.has(parent)) members.add(pid);
  }
  return all.filter(({ pid }) => members.has(pid)).reduce((sum, { cpuMs }) => sum + cpuMs, 0);
}

/** Counts samples without progress. Holds no timer: the caller takes a sample every `sampleMs`. */
export class Progress {
  #sampleMs;
  #cpuMs = 0;
  #spoke = false;
  #idle = 0;

  constructor(sampleMs) {
    this.#sampleMs = sampleMs;
  }

  /** Records that output arrived. */
  output() {
    this.#spoke = true;
  }

  /**
   * Takes a sample: the processor time used so far, in milliseconds, or undefined if the system does not tell, which counts as progress.
   * Returns whether there was no progress in the last {@link samplesMax} samples. A sum that shrinks, because a process has ended
   * that nothing waited for, is no progress.
   */
  sample(cpuMs) {
    const used = cpuMs === undefined ? Number.POSITIVE_INFINITY : cpuMs - this.#cpuMs;
    this.#idle = this.#spoke || used > this.#sampleMs * idleShareMax ? 0 : this.#idle + 1;
    this.#spoke = false;
    this.#cpuMs = cpuMs ?? 0;
    return this.#idle >= samplesMax;
  }
}
