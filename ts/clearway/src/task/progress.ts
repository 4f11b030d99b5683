// SPDX-License-Identifier: MIT OR Apache-2.0
import { afterMessages, clock } from "#host";
import { roughBytes } from "../transfer/rough-bytes.js";

/**
 * How many units of progress a call's listener may be behind: 8,192 small values, or 4 MiB of larger ones. More than a listener that
 * reads at all is ever behind (a caller's thread that is held for 100 ms by a task that tells every 12 us), little enough to hold.
 */
export const progressWindow = 8192;
// A value of so many bytes more costs one unit more.
const unitBytes = 512;
// A task that has held its thread for so long cannot hear that its values were read: then one more may leave.
const heldMs = 100;

/** What progress asks of its thread. Tests bring their own. */
export interface ProgressClock {
  nowMs(): number;
  /** Calls `next` when the messages that wait have been read. */
  afterMessages(next: () => void): void;
}

const threadClock: ProgressClock = { nowMs: clock, afterMessages };

/** How many units a value costs that is posted. */
export function unitsOf(value: unknown): number {
  return 1 + Math.floor(roughBytes(value, progressWindow * unitBytes) / unitBytes);
}

/**
 * The progress of one call, in order, as fast as its listener reads. What would be more than the window waits, and only the newest of
 * that: it leaves when there is room, or with `last()`. A task that never gives its thread back cannot hear of room; it tells ten values
 * a second.
 */
export class Progress {
  readonly #send: (value: unknown) => number;
  readonly #clock: ProgressClock;
  #unread = 0;
  #waiting: { value: unknown } | undefined;
  /** Since when no message has been read; undefined where that was not asked. */
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

  /** So many units were read. */
  read(units: number): void {
    this.#unread = Math.max(0, this.#unread - units);
    if (this.#unread < progressWindow) this.last();
  }

  /** Sends what waits: what follows must not overtake it. */
  last(): void {
    if (this.#waiting) this.#give(this.#waiting.value);
  }

  #give(value: unknown): void {
    this.#waiting = undefined;
    this.#unread += this.#send(value);
  }

  // Whether no message could be read for a while: asks again at each first value behind a message.
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
