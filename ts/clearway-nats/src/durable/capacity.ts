// SPDX-License-Identifier: MIT OR Apache-2.0

// Calls that wait in this process cannot be taken by another one. So this process holds calls for about this time, and at least one more
// than it runs at once. 50 ms hide the round trip to the servers, and are short for a person who waits.
const aheadMs = 50;
const aheadMax = 1_024;
// Weight of the newest time in the mean.
const weight = 1 / 16;

/**
 * Number of calls that a worker process takes at once. It follows the time that a call takes: a process with long calls holds one more than
 * it runs, and a process with short calls holds many.
 */
export class Capacity {
  readonly #concurrency: number;
  readonly #now: () => number;
  #open = 0;
  #since = 0;
  #meanMs: number | undefined;

  constructor(concurrency: number, now: () => number = () => performance.now()) {
    this.#concurrency = concurrency;
    this.#now = now;
  }

  /** Maximum number of calls of one consumer that the process has at once now. */
  get calls(): number {
    const ahead = this.#meanMs === undefined ? this.#concurrency : aheadMs / Math.max(this.#meanMs, aheadMs / aheadMax);
    return this.#concurrency + Math.max(1, Math.ceil(ahead));
  }

  /**
   * Maximum number of calls that are claimed and in the local pool now: as many as the process runs, and those that would begin within the time
   * for which it holds calls. So the round trip for a claim costs short calls no time.
   */
  get claimed(): number {
    if (this.#meanMs === undefined) return this.#concurrency;
    return this.#concurrency + Math.min(aheadMax, Math.floor(aheadMs / this.#meanMs));
  }

  began(): void {
    if (this.#open++ === 0) this.#since = this.#now();
  }

  /** Takes the time since the end of the call before, or since the process was idle, as the time of a call. */
  ended(): void {
    const at = this.#now();
    const ms = at - this.#since;
    this.#since = at;
    this.#open--;
    this.#meanMs = this.#meanMs === undefined ? ms : this.#meanMs + (ms - this.#meanMs) * weight;
  }
}
