// SPDX-License-Identifier: MIT OR Apache-2.0
import { timers } from "../clock.js";

interface Waiting {
  readonly priority: number;
  readonly weight: number;
  readonly sinceMs: number;
  readonly start: () => void;
  readonly refuse: (reason: unknown) => void;
}

/** Thrown to a call that has waited here for too long, and that another process may run sooner. */
export class WaitedTooLong extends Error {
  override readonly name = "WaitedTooLong";
}

/** Longest time for which a call waits in this process for others, in milliseconds. It is short for a person who waits. */
export const waitMsMax = 100;

/**
 * Something of which a process has a number: threads for calls, or bytes for arguments. Calls take their part, or wait for it by priority and
 * age. A call that waits for longer than `waitMsMax` is refused: it has not begun, so another process can run it.
 */
export class Slots {
  readonly #size: () => number;
  readonly #onTooLong: () => void;
  // By priority, and then by age.
  readonly #waiting: Waiting[] = [];
  #used = 0;
  // When a part was last taken or given.
  #movedMs = timers.nowMs();
  #timer: NodeJS.Timeout | undefined;
  #gathering: NodeJS.Timeout | undefined;
  #ended: { readonly reason: unknown } | undefined;

  /** `size` returns the number now, at least 1. `onTooLong` is called when a call has waited for too long. */
  constructor(size: () => number, onTooLong: () => void = () => {}) {
    this.#size = size;
    this.#onTooLong = onTooLong;
  }

  /** Whether all are taken and none was taken or given for `waitMsMax`, so that a further call would wait for a long time. */
  get stuck(): boolean {
    return this.#used >= this.#size() && timers.nowMs() - this.#movedMs > waitMsMax;
  }

  /**
   * Waits for a part. The highest priority has the first one; a call whose weight exceeds the number has all alone. Resolves with a function that
   * gives it back, once. Rejects with {@link WaitedTooLong}, at once if this is {@link stuck}, and with the reason of {@link end}.
   */
  async take(priority: number, weight = 1): Promise<() => void> {
    if (this.#ended) throw this.#ended.reason;
    if (this.#waiting.length === 0 && this.#fits(weight)) this.#start(weight);
    else {
      if (this.stuck) throw this.#tooLong();
      await new Promise<void>((start, refuse) => {
        const at = this.#waiting.findIndex((each) => each.priority < priority);
        const waiting = { priority, weight, sinceMs: timers.nowMs(), start, refuse };
        this.#waiting.splice(at === -1 ? this.#waiting.length : at, 0, waiting);
        this.#timer ??= timers.setTimeout(() => this.#refuseOld(), waitMsMax).unref();
        this.#startNext();
      });
    }
    let given = false;
    return () => {
      if (given) return;
      given = true;
      this.#used -= weight;
      this.#movedMs = timers.nowMs();
      this.#startNext();
    };
  }

  /** Whether a call may begin now. */
  get free(): boolean {
    return this.#used < this.#size();
  }

  /** Begins no call for a time, in milliseconds, so that the calls which come meanwhile begin by their priority. */
  gather(ms: number): void {
    this.#gathering ??= timers.setTimeout(() => {
      this.#gathering = undefined;
      this.#startNext();
    }, ms);
  }

  /** Refuses the calls that wait, and all later ones. */
  end(reason: unknown): void {
    this.#ended ??= { reason };
    timers.clearTimeout(this.#timer);
    timers.clearTimeout(this.#gathering);
    for (const { refuse } of this.#waiting.splice(0)) refuse(reason);
  }

  #fits(weight: number): boolean {
    return this.#gathering === undefined && (this.#used === 0 || this.#used + weight <= this.#size());
  }

  #start(weight: number): void {
    this.#used += weight;
    this.#movedMs = timers.nowMs();
  }

  #startNext(): void {
    for (let next = this.#waiting[0]; next !== undefined && this.#fits(next.weight); next = this.#waiting[0]) {
      this.#waiting.shift();
      this.#start(next.weight);
      next.start();
    }
  }

  #refuseOld(): void {
    this.#timer = undefined;
    const at = timers.nowMs();
    let oldestMs = at;
    for (const each of [...this.#waiting]) {
      if (at - each.sinceMs < waitMsMax) oldestMs = Math.min(oldestMs, each.sinceMs);
      else {
        this.#waiting.splice(this.#waiting.indexOf(each), 1);
        each.refuse(this.#tooLong());
      }
    }
    if (this.#waiting.length > 0) {
      this.#timer = timers.setTimeout(() => this.#refuseOld(), Math.ceil(oldestMs + waitMsMax - at)).unref();
    }
    // The first one may have been too large for what is free.
    this.#startNext();
  }

  #tooLong(): WaitedTooLong {
    this.#onTooLong();
    return new WaitedTooLong(`the call has waited for ${waitMsMax} ms and has not begun`);
  }
}

// A process holds calls for about this time beside those that it runs. 50 ms hide the round trip to the servers, and are short for a person who
// waits.
const aheadMs = 50;
const aheadMax = 1_024;
// Weight of the newest time in the mean.
const newestWeight = 1 / 16;

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
    this.#meanMs = this.#meanMs === undefined ? ms : this.#meanMs + (ms - this.#meanMs) * newestWeight;
  }
}
