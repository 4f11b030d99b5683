// SPDX-License-Identifier: MIT OR Apache-2.0
import { Histogram, type Summary } from "./histogram.js";

/** How long each phase of a task's calls took, in microseconds. */
export interface TaskTimings {
  /** Time from the call until the pool sent it to a worker. */
  queueUs?: Summary;
  /** Time from sending until the task started. */
  transitUs?: Summary;
  /** Run time of the task. */
  runUs?: Summary;
  /** Time from the end of the task until its answer reached the caller's thread. */
  returnUs?: Summary;
}

/** The times of one call: submitted, posted, started, finished, answered. All are in milliseconds on one clock. */
export type CallTimes = readonly [number, number, number, number, number];

// The phases of a call, in order.
const parts = ["queueUs", "transitUs", "runUs", "returnUs"] as const;

/** Histograms of the call times of each task of a pool. The pool loads this class only if the app asks for metrics. */
export class Timings {
  readonly #histograms = new Map<string, Histogram[]>();

  /** Adds the four phases of one call. Allocates only at the first call of a task. */
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

  /** Returns the summaries of a task's calls, or an empty object if there are none. */
  of(task: string): TaskTimings {
    const histograms = this.#histograms.get(task) ?? [];
    return Object.fromEntries(histograms.map((histogram, at) => [parts[at], histogram.summary()]));
  }
}
