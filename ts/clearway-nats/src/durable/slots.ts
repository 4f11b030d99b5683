// SPDX-License-Identifier: MIT OR Apache-2.0
import { timers } from "../timer.js";

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
