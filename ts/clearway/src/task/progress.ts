// SPDX-License-Identifier: MIT OR Apache-2.0
import { afterMessages } from "#host";
import { clock } from "../globals.js";
import { roughBytes } from "../transfer/rough-bytes.js";

/**
 * Maximum number of units of progress that a call's listener has not acknowledged: 8,192 small values, or 4 MiB of larger ones. If the
 * listener's thread is blocked for 100 ms, a task that reports every 13 us stays within this window.
 */
export const progressWindow = 8192;
// Bytes per unit. A value costs one unit, plus one more for every full 512 bytes in it.
const unitBytes = 512;
// If the window is used up and the thread has read no messages for this many milliseconds, one more value is sent. A task that blocks its
// thread for this long cannot receive acknowledgements.
const blockedMs = 100;

/** The thread's clock and message loop. Tests replace them. */
export interface ProgressClock {
  nowMs(): number;
  /** Calls `next` after the thread has read the messages that are waiting now. */
  afterMessages(next: () => void): void;
}

const threadClock: ProgressClock = { nowMs: clock, afterMessages };

/** Returns the cost of a posted value in units. */
export function unitsOf(value: unknown): number {
  return 1 + Math.floor(roughBytes(value, progressWindow * unitBytes) / unitBytes);
}

/**
 * Sends the progress of one call in order, at most a window ahead of its listener. Beyond the window, only the newest value waits. That
 * value is sent when the listener has caught up, or by `last()`. A task that never yields its thread cannot receive acknowledgements.
 * Beyond the window, such a task sends ten values per second.
 */
export class Progress {
  readonly #send: (value: unknown) => number;
  readonly #clock: ProgressClock;
  #unread = 0;
  #waiting: { value: unknown } | undefined;
  /**
   * Time in milliseconds from which `#isBlocked` counts how long the thread has read no messages. Undefined while `#isBlocked` does not
   * count.
   */
  #checkSinceMs: number | undefined;

  /** `send` posts a value and returns its cost in units. */
  constructor(send: (value: unknown) => number, clock = threadClock) {
    this.#send = send;
    this.#clock = clock;
  }

  report(value: unknown): void {
    if (this.#unread < progressWindow || this.#isBlocked()) this.#sendNow(value);
    else this.#waiting = { value };
  }

  /** Records that the listener has read `units` more. Sends the waiting value if the window has room. */
  read(units: number): void {
    this.#unread = Math.max(0, this.#unread - units);
    if (this.#unread < progressWindow) this.last();
  }

  /** Sends the waiting value, so that no later frame overtakes it. */
  last(): void {
    if (this.#waiting) this.#sendNow(this.#waiting.value);
  }

  #sendNow(value: unknown): void {
    this.#waiting = undefined;
    this.#unread += this.#send(value);
  }

  // Returns whether the thread has read no message for `blockedMs`. The first value after a message starts a new check.
  #isBlocked(): boolean {
    const nowMs = this.#clock.nowMs();
    if (this.#checkSinceMs === undefined) {
      this.#checkSinceMs = nowMs;
      this.#clock.afterMessages(() => {
        this.#checkSinceMs = undefined;
      });
    }
    if (nowMs - this.#checkSinceMs < blockedMs) return false;
    this.#checkSinceMs = nowMs;
    return true;
  }
}
