// SPDX-License-Identifier: MIT OR Apache-2.0
import { Histogram, type Summary } from "../stats/histogram.js";
import type { TaskKind } from "../transport/protocol.js";
import { Estimate } from "./estimate.js";

/** What became of a task's calls, and how long each part took, in microseconds (the latter with `metrics: true`). */
export interface TaskStats {
  calls: number;
  ok: number;
  failed: number;
  cancelled: number;
  /** From the call to its leaving for a worker. */
  queueUs?: Summary;
  /** From leaving to the start of the task. */
  transitUs?: Summary;
  /** The task itself. */
  runUs?: Summary;
  /** From the task's end to the caller's thread. */
  returnUs?: Summary;
}

/** All that a pool knows of one task. */
export class TaskRecord {
  /** Unknown until the first worker is ready. */
  kind: TaskKind | undefined;
  /** The task's place in the module's list; -1 while unknown. */
  index = -1;
  readonly estimate = new Estimate();
  calls = 0;
  ok = 0;
  failed = 0;
  cancelled = 0;
  #histograms: Histogram[] | undefined;

  constructor(readonly name: string) {}

  /** Adds the four parts of one call; all times in milliseconds on one clock. */
  measure(submittedMs: number, postedMs: number, startedMs: number, finishedMs: number, answeredMs: number): void {
    this.#histograms ??= parts.map(() => new Histogram());
    const times = [submittedMs, postedMs, startedMs, finishedMs, answeredMs];
    this.#histograms.forEach((histogram, at) => {
      histogram.record((times[at + 1]! - times[at]!) * 1000);
    });
  }

  stats(): TaskStats {
    const { calls, ok, failed, cancelled } = this;
    const stats: TaskStats = { calls, ok, failed, cancelled };
    this.#histograms?.forEach((histogram, at) => {
      stats[parts[at]!] = histogram.summary();
    });
    return stats;
  }
}

// In the order in which a call goes through them.
const parts = ["queueUs", "transitUs", "runUs", "returnUs"] as const;
