// SPDX-License-Identifier: MIT OR Apache-2.0
// Measures the steps of a job where the job runs, the same for every implementation ("way").

/** How long each step of a job took, in milliseconds. The step's name completes "Most of it was ...". */
export type Steps = Readonly<Record<string, number>>;

/** A result, and the steps that made it. */
export interface Timed<Value> {
  value: Value;
  steps: Steps;
}

/** Measures the steps of a job one after the other. A step lasts from the end of the previous step. */
export class Stopwatch {
  readonly steps: Record<string, number> = {};
  readonly #clock: () => number;
  #lastMs: number;

  constructor(clock: () => number = () => performance.now()) {
    this.#clock = clock;
    this.#lastMs = clock();
  }

  /** Ends the step `name`. A step that is done several times has the sum. */
  lap(name: string): void {
    const nowMs = this.#clock();
    this.steps[name] = (this.steps[name] ?? 0) + nowMs - this.#lastMs;
    this.#lastMs = nowMs;
  }
}
