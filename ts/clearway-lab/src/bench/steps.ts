// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs the steps of a measurement, which are calls of a user's functions. A step that throws, or has not settled when the time is over,
// fails with its name. A step that blocks the thread cannot be stopped here: the lab then kills the process.
import { describeThrown } from "./thrown.js";

/** The failure of a user's function. Its message is complete. */
export class StepError extends Error {}

export interface Timers {
  nowMs(): number;
  after(ms: number, act: () => void): () => void;
}

const realTimers: Timers = {
  nowMs: () => performance.now(),
  after: (ms, act) => {
    const timer = setTimeout(act, ms);
    return () => clearTimeout(timer);
  },
};

export class Steps {
  readonly #timeoutMs: number;
  readonly #timers: Timers;
  readonly #endMs: number;
  /** The failure outside the steps, such as an error in a timer. */
  #uncaught: { reject(error: StepError): void } | undefined;

  /** `timeoutMs` is the limit for all steps together. */
  constructor(timeoutMs: number, timers = realTimers) {
    this.#timeoutMs = timeoutMs;
    this.#timers = timers;
    this.#endMs = timers.nowMs() + timeoutMs;
  }

  /** Runs a step. Rejects with a StepError if the step throws, rejects, or does not settle before the time is over. */
  async run<T>(name: string, step: () => T | PromiseLike<T>, msMax = Number.POSITIVE_INFINITY): Promise<T> {
    const ms = Math.max(0, Math.min(msMax, this.#endMs - this.#timers.nowMs()));
    let stop = (): void => {};
    try {
      return await new Promise<T>((resolve, reject) => {
        this.#uncaught = { reject };
        const limit = Math.min(msMax, this.#timeoutMs);
        stop = this.#timers.after(ms, () =>
          reject(new StepError(`${name} had not settled after ${limit / 1000} s; --timeout sets this limit`)),
        );
        // A user's promise may be any object with a `then`, so its outcome is adopted, not trusted.
        Promise.resolve()
          .then(step)
          .then(resolve, (thrown: unknown) =>
            reject(thrown instanceof StepError ? thrown : new StepError(`${name} threw ${describeThrown(thrown)}`)),
          );
      });
    } finally {
      stop();
      this.#uncaught = undefined;
    }
  }

  /** Fails the running step with an error that no step threw. Returns whether a step was running. */
  fail(thrown: unknown): boolean {
    const running = this.#uncaught;
    running?.reject(new StepError(`an error outside its calls was not caught: ${describeThrown(thrown)}`));
    return running !== undefined;
  }
}
