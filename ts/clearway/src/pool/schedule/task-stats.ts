// SPDX-License-Identifier: MIT OR Apache-2.0
import type { TaskPlacement } from "../../task/task.js";
import type { TaskKind } from "../../transport/protocol.js";

// A call is sent ahead to a busy worker only if all calls there together are expected to take less than this. 1 ms equals about twenty
// wake-ups, and is the longest that a call waits behind others.
const aheadBudgetUs = 1_000;
// Runs before a task may be sent ahead.
const samplesNeeded = 8;
const shortUs = 200;

/** The run time of a task: a moving mean, and a peak that decays slowly, so that the pool remembers one slow run for a while. */
export class Estimate {
  samples = 0;
  peakUs = 0;
  #leastUs = Number.POSITIVE_INFINITY;
  #meanUs = 0;

  add(runUs: number): void {
    this.samples++;
    this.#meanUs += (runUs - this.#meanUs) / Math.min(this.samples, 32);
    this.peakUs = Math.max(runUs, this.peakUs * 0.99);
    this.#leastUs = Math.min(runUs, this.#leastUs * 1.1);
  }

  /** Expected time of one run, in microseconds, at least 0.5. Undefined before 8 samples. */
  get meanUs(): number | undefined {
    return this.samples < samplesNeeded ? undefined : Math.max(0.5, this.#meanUs);
  }

  /** Whether every recent run took longer than a caller polls for its result. */
  get long(): boolean {
    return this.samples > 0 && this.#leastUs > shortUs;
  }

  /** Whether a call may be sent ahead, behind others. */
  get short(): boolean {
    return this.samples >= samplesNeeded && this.#meanUs <= shortUs && this.peakUs <= aheadBudgetUs;
  }
}

/** Whether one more call may be sent ahead to a worker that is expected to be busy for `busyUs`. */
export function mayGoAhead(estimate: Estimate, busyUs: number): boolean {
  return estimate.short && busyUs + estimate.meanUs! <= aheadBudgetUs;
}

/** Everything that a pool knows about one task. */
export class TaskRecord {
  /** Undefined until the first worker is ready. */
  kind: TaskKind | undefined;
  /** The task's index in its module; -1 while unknown. */
  index = -1;
  readonly estimate = new Estimate();
  calls = 0;
  ok = 0;
  failed = 0;
  cancelled = 0;
  /** Calls that ran on the caller's thread. */
  inline = 0;
  /** The placement that the module declares. */
  placement: TaskPlacement | undefined;

  constructor(readonly name: string) {}
}

/** The tasks that a pool knows, by name. */
export class TaskRecords extends Map<string, TaskRecord> {
  /** Whether a worker has listed the tasks of its module. */
  known = false;

  /** Returns the record of a task. Once the tasks are known, records of other names are not kept. */
  of(name: string): TaskRecord {
    let record = this.get(name);
    if (!record) {
      record = new TaskRecord(name);
      if (!this.known) this.set(name, record);
    }
    return record;
  }
}
