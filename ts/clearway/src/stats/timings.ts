// SPDX-License-Identifier: MIT OR Apache-2.0
import { Histogram, type Summary } from "./histogram.js";

/** How long each part of a task's calls took, in microseconds. */
export interface TaskTimings {
  /** From the call to its leaving for a worker. */
  queueUs?: Summary;
  /** From leaving to the start of the task. */
  transitUs?: Summary;
  /** The task itself. */
  runUs?: Summary;
  /** From the task's end to the caller's thread. */
  returnUs?: Summary;
}

/** One call: submitted, posted, started, finished, answered, all in milliseconds on one clock. */
export type CallTimes = readonly [number, number, number, number, number];

// In the order in which a call goes through them.
const parts = ["queueUs", "transitUs", "runUs", "returnUs"] as const;

/** The histograms of a pool's tasks. Loaded only where somebody asked for metrics. */
export class Timings {
  readonly #histograms = new Map<string, Histogram[]>();

  /** Adds the four parts of one call. Allocates at a task's first only. */
  enter(task: string, times: CallTimes): void {
    let histograms = this.#histograms.get(task);
    if (!histograms) {
      histograms = parts.map(() => new Histogram());
      this.#histograms.set(task, histograms);
    }
    histograms.forEach((histogram, at) => {
      histogram.record((times[at + 1]! - times[at]!) * 1000);
    });
  }

  /** Summaries of what was entered for a task; empty while that is nothing. */
  of(task: string): TaskTimings {
    const histograms = this.#histograms.get(task) ?? [];
    return Object.fromEntries(histograms.map((histogram, at) => [parts[at], histogram.summary()]));
  }
}
