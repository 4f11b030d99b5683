// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError } from "../../error/clearway-error.js";
import type { Placement } from "../../task/task.js";
import type { TaskKind } from "../../transport/protocol.js";

// A call is sent ahead to a busy worker only if all calls there are expected to take less than this in total, in microseconds. 1 ms equals
// about twenty wake-ups. The limit is also the longest expected time that a call waits for other calls of its worker.
const aheadBudgetUs = 1_000;
// Number of measured runs that a task needs before its calls are sent ahead.
const samplesNeeded = 8;
const shortUs = 200;

/**
 * Estimate of a task's run time in workers, in microseconds: a moving mean, and a peak that decays slowly. The slow decay makes the pool
 * remember one slow run for a while.
 */
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

  /** Expected time of one run, in microseconds; at least 0.5. Undefined before 8 samples. */
  get meanUs(): number | undefined {
    return this.samples < samplesNeeded ? undefined : Math.max(0.5, this.#meanUs);
  }

  /** Whether every recent run took longer than a caller polls for a result. */
  get long(): boolean {
    return this.samples > 0 && this.#leastUs > shortUs;
  }

  /** Whether the task is short enough for its calls to be sent ahead: to a worker that is busy with other calls. */
  get short(): boolean {
    return this.samples >= samplesNeeded && this.#meanUs <= shortUs && this.peakUs <= aheadBudgetUs;
  }
}

/** Returns whether one more call may be sent ahead to a worker with `busyUs` microseconds of expected work. */
export function mayGoAhead(estimate: Estimate, busyUs: number): boolean {
  return estimate.short && busyUs + estimate.meanUs! <= aheadBudgetUs;
}

/** The record that a pool keeps for one task. */
export class TaskRecord {
  /** Undefined until the first worker is ready. */
  kind: TaskKind | undefined;
  /** Index of the task in its module. -1 while unknown. */
  index = -1;
  readonly estimate = new Estimate();
  calls = 0;
  ok = 0;
  failed = 0;
  cancelled = 0;
  /** Numbers of failures, by code. */
  readonly errors = new Map<string, number>();
  /** Number of calls that ran on the caller's thread. */
  inline = 0;
  /** The placement that the module declares. */
  placement: Placement | undefined;

  constructor(readonly name: string) {}

  /** Counts the error of a call by its code. `other` is the code of an error that is not Clearway's. */
  countError(reason: unknown, other = "task"): void {
    const code = reason instanceof ClearwayError ? reason.code : other;
    this.errors.set(code, (this.errors.get(code) ?? 0) + 1);
  }
}

/** The records of a pool's tasks, by name. */
export class TaskRecords extends Map<string, TaskRecord> {
  /** Whether a worker has listed the tasks of its module. */
  known = false;

  /** Returns the record of a task. Once the tasks are known, a record of any other name is not kept. */
  of(name: string): TaskRecord {
    let record = this.get(name);
    if (!record) {
      record = new TaskRecord(name);
      if (!this.known) this.set(name, record);
    }
    return record;
  }
}
