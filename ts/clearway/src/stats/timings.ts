// SPDX-License-Identifier: MIT OR Apache-2.0
import { Histogram, type Summary } from "./histogram.js";

/** How long each phase of a task's calls took, in microseconds. */
export interface TaskTimings {
  /** From the call until it was sent to a worker. */
  queueUs?: Summary;
  /** From sending to the start of the task. */
  transitUs?: Summary;
  /** The task itself. */
  runUs?: Summary;
  /** From the task's end until the answer reached the caller's thread. */
  returnUs?: Summary;
}

/** One call's times: submitted, posted, started, finished, answered, all in milliseconds on one clock. */
export type CallTimes = readonly [number, number, number, number, number];

// In the order of a call's phases.
const parts = ["queueUs", "transitUs", "runUs", "returnUs"] as const;

/** The histograms of a pool's tasks. Loaded only if the app asks for metrics. */
export class Timings {
  readonly #histograms = new Map<string, Histogram[]>();

  /** Adds the four phases of one call. Allocates only at a task's first call. */
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

  /** Returns the summaries of a task's calls; empty if there are none. */
  of(task: string): TaskTimings {
    const histograms = this.#histograms.get(task) ?? [];
    return Object.fromEntries(histograms.map((histogram, at) => [parts[at], histogram.summary()]));
  }
}
