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

/** How long the phases of one call took, in microseconds. See `stats()`. */
export interface CallTiming {
  readonly task: string;
  readonly queueUs: number;
  readonly transitUs: number;
  readonly runUs: number;
  readonly returnUs: number;
}

/** The times of one call: submitted, posted, started, finished, answered. All are in milliseconds on one clock. */
export type CallTimes = readonly [number, number, number, number, number];

// The phases of a call, in order.
const parts = ["queueUs", "transitUs", "runUs", "returnUs"] as const;

/** Histograms of the call times of each task of a pool. A pool has them with `metrics: true`. */
export class Timings {
  readonly #histograms = new Map<string, Histogram[]>();
  readonly #failed: (reason: unknown) => void;
  readonly #listener: ((call: CallTiming) => void) | undefined;

  /** `failed` receives each error of `listener`. */
  constructor(failed: (reason: unknown) => void, listener?: (call: CallTiming) => void) {
    this.#failed = failed;
    this.#listener = listener;
  }

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
    if (this.#listener) this.#tell(this.#listener, task, times);
  }

  #tell(listener: (call: CallTiming) => void, task: string, times: CallTimes): void {
    // The clocks of two threads may disagree by some microseconds.
    const us = (at: number): number => Math.max(0, (times[at + 1]! - times[at]!) * 1000);
    try {
      listener({ task, queueUs: us(0), transitUs: us(1), runUs: us(2), returnUs: us(3) });
    } catch (reason) {
      this.#failed(reason);
    }
  }

  /** Returns the summaries of a task's calls, or an empty object if there are none. */
  of(task: string): TaskTimings {
    const histograms = this.#histograms.get(task) ?? [];
    return Object.fromEntries(histograms.map((histogram, at) => [parts[at], histogram.summary()]));
  }
}
