// SPDX-License-Identifier: MIT OR Apache-2.0
import { afterMessages } from "#host";

// A frame at 60 frames per second. A hidden page draws no frames; there, a frame's budget lasts this long.
const frameUs = 1e6 / 60;
// A callback at the turn of the event loop costs 0.5 us in Node, as much as five runs of arithmetic. Until this share of the budget is
// spent, all inline runs count as runs of one turn.
const watchShare = 1 / 8;

/** The clock of a thread. Tests pass their own. */
export interface Clock {
  /** Microseconds, monotonic. */
  nowUs(): number;
  /** Calls `next` after the code that runs now, before the event loop turns. */
  afterBurst(next: () => void): void;
  /** Calls `next` after the event loop has turned. */
  afterTurn(next: () => void): void;
  /** CPU time of this thread, or of its process, in microseconds. Undefined where the host does not tell. */
  cpuUs(): number | undefined;
  /** Calls `next` when the page begins its next frame. Undefined where there are no frames. */
  readonly onFrame: ((next: () => void) => void) | undefined;
}

interface Usage {
  user: number;
  system: number;
}
// Node only. `threadCpuUsage` exists from 23.9 on. The CPU time of the process is never less, so it excuses no run wrongly.
const { process } = globalThis as { process?: { threadCpuUsage?(): Usage; cpuUsage?(): Usage } };

const settled = Promise.resolve();

/** The clock of this thread. */
export const threadClock: Clock = {
  nowUs: () => performance.now() * 1000,
  // A promise reaction: 50 ns. Node makes a resource for each `queueMicrotask`: 300 ns.
  afterBurst: (next) => void settled.then(next),
  afterTurn: afterMessages,
  cpuUs: () => {
    const usage = process?.threadCpuUsage?.() ?? process?.cpuUsage?.();
    return usage && usage.user + usage.system;
  },
  onFrame: typeof requestAnimationFrame === "function" ? (next) => void requestAnimationFrame(next) : undefined,
};

/**
 * The budget that is left in this turn of the event loop and, on a page, in this frame. A pure value. Times are passed in, in microseconds.
 *
 * A watched turn counts by the clock. It therefore includes the app's own code between its calls, which is part of the same stall. A frame
 * counts inline runs only: a page that is idle between them is not late.
 */
export class Turn {
  readonly #budgetUs: number;
  readonly #frames: boolean;
  #spentUs = 0;
  /** Negative while the turn is not watched. */
  #watchedFromUs = -1;
  #frameBeganUs = Number.NEGATIVE_INFINITY;
  #frameSpentUs = 0;

  constructor(budgetUs: number, frames: boolean) {
    this.#budgetUs = budgetUs;
    this.#frames = frames;
  }

  /** Whether `ended` will be called for this turn. */
  get watched(): boolean {
    return this.#watchedFromUs >= 0;
  }

  /** Returns the rest of the budget. Negative if more was spent. */
  leftUs(nowUs: number): number {
    const elapsedUs = this.#watchedFromUs < 0 ? 0 : nowUs - this.#watchedFromUs;
    const leftUs = this.#budgetUs - Math.max(this.#spentUs, elapsedUs);
    if (!this.#frames || nowUs - this.#frameBeganUs >= frameUs) return leftUs;
    return Math.min(leftUs, this.#budgetUs - this.#frameSpentUs);
  }

  /** Adds an inline run. Returns true if the caller must arrange for `ended` to be called. */
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

  /** The event loop has turned. */
  ended(): void {
    this.#watchedFromUs = -1;
    this.#spentUs = 0;
  }

  /** The page is about to draw: a new frame begins. */
  frame(nowUs: number): void {
    this.#frameBeganUs = nowUs;
    this.#frameSpentUs = 0;
  }
}
