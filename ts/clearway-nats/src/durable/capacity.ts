// SPDX-License-Identifier: MIT OR Apache-2.0

import { timers } from "../timer.js";
import { waitMsMax } from "./slots.js";

// A process holds calls for about this time beside those that it runs. 50 ms hide the round trip to the servers, and are short for a person who
// waits.
const aheadMs = 50;
const aheadMax = 1_024;
// Weight of the newest time in the mean.
const weight = 1 / 16;

/**
 * Number of calls that a worker process takes at once. It follows the time that a call takes: a process with short calls holds many, and a
 * process with long calls, or with calls whose time is not known, holds those that it runs. Other processes can then take the others.
 */
export class Capacity {
  readonly #concurrency: number;
  readonly #now: () => number;
  #open = 0;
  #since = 0;
  #meanMs: number | undefined;

  constructor(concurrency: number, now: () => number = () => timers.nowMs()) {
    this.#concurrency = concurrency;
    this.#now = now;
  }

  /** Number of tasks that the process runs at once. */
  get running(): number {
    return this.#concurrency;
  }

  /** Maximum number of calls of one consumer that the process has at once now. */
  get calls(): number {
    return this.#concurrency + this.ahead;
  }

  /** Number of calls that the process holds beside those that it runs. */
  get ahead(): number {
    const ms = this.#callMs;
    // A call that would wait for longer than this is given back.
    return ms > waitMsMax ? 0 : Math.min(aheadMax, Math.ceil(aheadMs / ms));
  }

  /**
   * Maximum number of calls that are claimed now: as many as the process runs, and those that would begin within the time for which it holds
   * calls. So the round trip for a claim costs short calls no time.
   */
  get claimed(): number {
    return this.#concurrency + Math.min(aheadMax, Math.floor(aheadMs / this.#callMs));
  }

  // The time of a call. It is at least that since the last end while calls are open.
  get #callMs(): number {
    if (this.#meanMs === undefined) return Number.POSITIVE_INFINITY;
    return this.#open > 0 ? Math.max(this.#meanMs, this.#now() - this.#since) : this.#meanMs;
  }

  /** Takes a wait that was too long as a sign that calls take longer than they did. The process then holds fewer of them for a while. */
  waitedTooLong(): void {
    this.#meanMs = Math.max(this.#meanMs ?? 0, aheadMs);
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
