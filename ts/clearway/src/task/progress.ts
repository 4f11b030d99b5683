// SPDX-License-Identifier: MIT OR Apache-2.0
import { afterMessages, clock } from "#host";
import { roughBytes } from "../transfer/rough-bytes.js";

/**
 * The most units of progress that a call's listener may be behind: 8,192 small values, or 4 MiB of larger ones. A listener on a thread that
 * is blocked for 100 ms stays within the window if the task reports every 12 us.
 */
export const progressWindow = 8192;
// A value costs one unit, and one more for each of these bytes.
const unitBytes = 512;
// A task that blocks its thread for this long cannot receive acknowledgements. It may then send one more value.
const heldMs = 100;

/** The thread's clock and message loop. Tests replace them. */
export interface ProgressClock {
  nowMs(): number;
  /** Calls `next` after the thread has read its waiting messages. */
  afterMessages(next: () => void): void;
}

const threadClock: ProgressClock = { nowMs: clock, afterMessages };

/** Returns the units that a posted value costs. */
export function unitsOf(value: unknown): number {
  return 1 + Math.floor(roughBytes(value, progressWindow * unitBytes) / unitBytes);
}

/**
 * Sends the progress of one call, in order, no more than a window ahead of its listener. Beyond the window only the newest value waits. It
 * is sent when the listener has caught up, or by `last()`. A task that never yields its thread cannot receive acknowledgements; it sends
 * ten values a second.
 */
export class Progress {
  readonly #send: (value: unknown) => number;
  readonly #clock: ProgressClock;
  #unread = 0;
  #waiting: { value: unknown } | undefined;
  /** When the thread last could read messages, if a check is under way. */
  #heldSinceMs: number | undefined;

  /** `send` posts a value and returns its units. */
  constructor(send: (value: unknown) => number, clock = threadClock) {
    this.#send = send;
    this.#clock = clock;
  }

  tell(value: unknown): void {
    if (this.#unread < progressWindow || this.#isHeld()) this.#give(value);
    else this.#waiting = { value };
  }

  /** Counts units that the listener has read, and sends the waiting value if there is room. */
  read(units: number): void {
    this.#unread = Math.max(0, this.#unread - units);
    if (this.#unread < progressWindow) this.last();
  }

  /** Sends the waiting value, so that no later frame overtakes it. */
  last(): void {
    if (this.#waiting) this.#give(this.#waiting.value);
  }

  #give(value: unknown): void {
    this.#waiting = undefined;
    this.#unread += this.#send(value);
  }

  // Whether the thread has read no message for `heldMs`. The first value after a message starts the check anew.
  #isHeld(): boolean {
    const nowMs = this.#clock.nowMs();
    if (this.#heldSinceMs === undefined) {
      this.#heldSinceMs = nowMs;
      this.#clock.afterMessages(() => {
        this.#heldSinceMs = undefined;
      });
    }
    if (nowMs - this.#heldSinceMs < heldMs) return false;
    this.#heldSinceMs = nowMs;
    return true;
  }
}
