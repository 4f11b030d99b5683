// SPDX-License-Identifier: MIT OR Apache-2.0

// Calls are sent ahead to a worker that is still busy only when all of them together are expected to take less than
// this. 1 ms: some twenty wake-ups' worth of work, and the most that a call can wait behind others it did not choose.
const aheadBudgetUs = 1_000;
// A task must have shown itself short this often before any is sent ahead.
const samplesNeeded = 8;
const shortUs = 200;

/** What a task has cost so far: a moving mean, and a peak that decays, so that one slow run is remembered for a while. */
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

  /** What one more run is expected to take, in microseconds; undefined while too little is known. At least 0.5. */
  get meanUs(): number | undefined {
    return this.samples < samplesNeeded ? undefined : Math.max(0.5, this.#meanUs);
  }

  /** Whether every run so far, or of late, took longer than anybody waits awake for its end. */
  get long(): boolean {
    return this.samples > 0 && this.#leastUs > shortUs;
  }

  /** Whether it may be sent ahead behind others. */
  get short(): boolean {
    return this.samples >= samplesNeeded && this.#meanUs <= shortUs && this.peakUs <= aheadBudgetUs;
  }
}

/** Whether one more call may be sent ahead to a worker that is expected to be busy for `busyUs`. */
export function mayGoAhead(estimate: Estimate, busyUs: number): boolean {
  return estimate.short && busyUs + estimate.meanUs! <= aheadBudgetUs;
}
