// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Placement } from "../../task/task.js";
import type { TaskRecord } from "../schedule/task-stats.js";

// Work under about 5 ms may stay on the calling thread: a frame of 16.7 ms then still has time for its own work.
const inlineUsMax = 5_000;
// Number of measured runs that advice needs.
const samplesNeeded = 16;

/** The advice for one task, as plain data. All times are in microseconds. */
export interface TaskAdvice {
  task: string;
  /** The placement of the task's calls that have none of their own. */
  placement: Placement;
  calls: number;
  /** Number of measured runs, in workers and on the calling thread. */
  samples: number;
  /** Mean time of a run. Undefined without enough measurements. */
  runUs: number | undefined;
  /** Time of the longest recent run. Undefined without enough measurements. */
  longestUs: number | undefined;
  /** Whether the task may run on the calling thread: its runs take less than 5 ms. Undefined without enough measurements. */
  mayRunInline: boolean | undefined;
  /** The advice as a sentence. */
  advice: string;
}

/** The advice for all tasks of a pool, as plain data for `JSON.stringify`. */
export interface Advice {
  tasks: TaskAdvice[];
  /** Notes about the whole pool, such as the reason why nothing can run inline. */
  notes: string[];
  text: string;
}

/** Returns the advice for the tasks of a pool. `why` tells why nothing can run inline. A pure function. */
export function adviceOf(records: Iterable<TaskRecord>, why: string | undefined): Advice {
  const tasks = [...records].filter(({ index }) => index >= 0).map(taskAdvice);
  const notes = why === undefined ? [] : [`Nothing runs inline: ${why}.`];
  return { tasks, notes, text: [...tasks.map(({ advice }) => advice), ...notes].join("\n") };
}

function taskAdvice({ name, kind, placement, calls, estimate }: TaskRecord): TaskAdvice {
  const { samples } = estimate;
  const known = samples >= samplesNeeded;
  const runUs = known ? estimate.meanUs : undefined;
  const longestUs = known ? estimate.peakUs : undefined;
  const say = (advice: string, mayRunInline?: boolean): TaskAdvice => {
    return {
      task: name,
      placement: placement ?? "worker",
      calls,
      samples,
      runUs,
      longestUs,
      mayRunInline,
      advice: `${name}() ${advice}`,
    };
  };
  if (kind === "stream") return say("is a stream: it stays in a worker", false);
  if (runUs === undefined || longestUs === undefined) return say(`was measured ${samples} times: too little to say`);
  const takes = `takes ${shown(runUs)}${longestUs > runUs * 2 ? ` and up to ${shown(longestUs)}` : ""}`;
  if (longestUs > inlineUsMax)
    return say(`${takes}, more than 5 ms: ${placement === "inline" ? "move it to" : "keep it in"} a worker`, false);
  const short = `${takes}, less than 5 ms`;
  if (placement === "inline") return say(`${short}: it may stay on the calling thread`, true);
  if (placement === "worker")
    return say(`${short}, but it holds a resource, needs the setup, or says that it belongs in a worker`, false);
  return say(`${short}: it may run on the calling thread, with placement: "inline"`, true);
}

function shown(us: number): string {
  if (us < 10) return `${us.toFixed(1)} us`;
  return us < 1000 ? `${Math.round(us)} us` : `${(us / 1000).toFixed(us < 10_000 ? 1 : 0)} ms`;
}
