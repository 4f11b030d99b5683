// SPDX-License-Identifier: MIT OR Apache-2.0
import { afterMessages } from "#host";
import { clock, globals, OwnPromise } from "../globals.js";

// Duration of a frame at 60 frames per second, in microseconds. A hidden page draws no frames. There, the budget of a frame is renewed
// after this time.
const frameUs = 1e6 / 60;
// Share of the budget that inline runs spend before a turn is watched. Until then, all inline runs count as runs of one turn. A watch needs
// a callback after the turn of the event loop. The callback costs 0.5 us in Node, as much as five runs of a little arithmetic.
const watchShare = 1 / 8;

/** The clock of a thread. Tests pass a fake clock. */
export interface Clock {
  /** Returns the time of a monotonic clock in microseconds. */
  nowUs(): number;
  /** Calls `next` after the code that runs now, and before the next turn of the event loop. */
  afterBurst(next: () => void): void;
  /** Calls `next` after the current turn of the event loop. */
  afterTurn(next: () => void): void;
  /** Returns the CPU time of this thread, or of its process, in microseconds. Returns undefined if the host does not report it. */
  cpuUs(): number | undefined;
  /** Calls `next` when the page begins its next frame. Undefined if the host has no frames. */
  readonly onFrame: ((next: () => void) => void) | undefined;
}

interface Usage {
  user: number;
  system: number;
}
// Exists in Node only. `threadCpuUsage` exists from Node 23.9 on. Older versions report the CPU time of the process, which is at least that
// of the thread. A pause may then seem shorter, so no long run is wrongly attributed to the machine.
const { process } = globalThis as { process?: { threadCpuUsage?(): Usage; cpuUsage?(): Usage } };

const settled = OwnPromise.resolve();

/** The clock of this thread. */
export const threadClock: Clock = {
  nowUs: () => clock() * 1000,
  // A promise reaction costs 50 ns. `queueMicrotask` costs 300 ns, because Node makes a resource for each call.
  afterBurst: (next) => void settled.then(next),
  afterTurn: afterMessages,
  cpuUs: () => {
    const usage = process?.threadCpuUsage?.() ?? process?.cpuUsage?.();
    return usage && usage.user + usage.system;
  },
  onFrame: globals.requestAnimationFrame && ((next) => void globals.requestAnimationFrame?.(next)),
};

/**
 * The budget that is left in this turn of the event loop and, on a page, in this frame. Reads no clock. The caller passes all times, in
 * microseconds.
 *
 * A watched turn counts elapsed time. Elapsed time includes the app's own code between its calls, which is part of the same stall. A frame
 * counts inline runs only, because a page that is idle between them is not late.
 */
export class Turn {
  readonly #budgetUs: number;
  readonly #frames: boolean;
  #spentUs = 0;
  /** Time when the watched turn began. Negative while the turn is not watched. */
  #watchedFromUs = -1;
  #frameBeganUs = Number.NEGATIVE_INFINITY;
  #frameSpentUs = 0;

  constructor(budgetUs: number, frames: boolean) {
    this.#budgetUs = budgetUs;
    this.#frames = frames;
  }

  /** Whether the turn is watched. If so, `ended` will be called when the turn ends. */
  get watched(): boolean {
    return this.#watchedFromUs >= 0;
  }

  /** Returns the rest of the budget in microseconds. Negative if more was spent. */
  leftUs(nowUs: number): number {
    const elapsedUs = this.#watchedFromUs < 0 ? 0 : nowUs - this.#watchedFromUs;
    const leftUs = this.#budgetUs - Math.max(this.#spentUs, elapsedUs);
    if (!this.#frames || nowUs - this.#frameBeganUs >= frameUs) return leftUs;
    return Math.min(leftUs, this.#budgetUs - this.#frameSpentUs);
  }

  /** Adds an inline run. Returns true if the turn is now watched, and the caller must arrange for `ended` to be called after it. */
  spent(fromUs: number, toUs: number): boolean {
    this.#spentUs += toUs - fromUs;
    if (this.#frames) {
      if (fromUs - this.#frameBeganUs >= frameUs) this.frame(fromUs);
      this.#frameSpentUs += toUs - fromUs;
    }
    if (this.#watchedFromUs >= 0 || this.#spentUs < this.#budgetUs * watchShare) return false;
    this.#watchedFromUs = Math.max(0, toUs - this.#spentUs);
    return true;
  }

  /** Ends the turn, after the event loop has turned. */
  ended(): void {
    this.#watchedFromUs = -1;
    this.#spentUs = 0;
  }

  /** Begins a new frame, because the page is about to draw. */
  frame(nowUs: number): void {
    this.#frameBeganUs = nowUs;
    this.#frameSpentUs = 0;
  }
}
