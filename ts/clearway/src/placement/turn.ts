// SPDX-License-Identifier: MIT OR Apache-2.0
import { afterMessages } from "#host";

// Of a display with 60 frames a second. A hidden page draws no frames; there this is how soon a window ends.
const frameUs = 1e6 / 60;
// To be told when the event loop turns costs half a microsecond in Node: five runs of arithmetic. Until an eighth of the
// budget is spent, all inline runs are taken for runs of one turn.
const watchShare = 1 / 8;

/** What placement asks of the thread that it runs on. Tests bring their own. */
export interface Clock {
  /** Microseconds, monotonic. */
  nowUs(): number;
  /** Calls `next` when the code that runs now has given its thread back, but before the event loop turns. */
  afterBurst(next: () => void): void;
  /** Calls `next` when the event loop has turned. */
  afterTurn(next: () => void): void;
  /** How long the processor has worked for this thread, or for its process, in microseconds. Undefined where nobody can tell. */
  cpuUs(): number | undefined;
  /** Calls `next` when the page begins its next frame. Undefined where nothing is drawn. */
  readonly onFrame: ((next: () => void) => void) | undefined;
}

interface Usage {
  user: number;
  system: number;
}
// Node's. The thread's own is there from 23.9 on; the process's is no less, so that it excuses nothing wrongly.
const { process } = globalThis as { process?: { threadCpuUsage?(): Usage; cpuUsage?(): Usage } };

const settled = Promise.resolve();

/** The clock of this thread. */
export const threadClock: Clock = {
  nowUs: () => performance.now() * 1000,
  // A reaction, not `queueMicrotask`: Node makes a resource for each of those, 300 ns instead of 50.
  afterBurst: (next) => void settled.then(next),
  afterTurn: afterMessages,
  cpuUs: () => {
    const usage = process?.threadCpuUsage?.() ?? process?.cpuUsage?.();
    return usage && usage.user + usage.system;
  },
  onFrame: typeof requestAnimationFrame === "function" ? (next) => void requestAnimationFrame(next) : undefined,
};

/**
 * How much of the budget is left in this turn of the event loop and, on a page, in this frame. A pure value: it is told
 * the time, in microseconds.
 *
 * Once a turn is watched it counts by the clock, so that what the app itself does between its calls counts too: the
 * stall is one, whoever made it. A frame counts what was run inline: a page that is idle in between is not late.
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

  /** Whether the end of this turn will be told. */
  get watched(): boolean {
    return this.#watchedFromUs >= 0;
  }

  /** What may still be spent now. Negative when it is overspent. */
  leftUs(nowUs: number): number {
    const elapsedUs = this.#watchedFromUs < 0 ? 0 : nowUs - this.#watchedFromUs;
    const leftUs = this.#budgetUs - Math.max(this.#spentUs, elapsedUs);
    if (!this.#frames || nowUs - this.#frameBeganUs >= frameUs) return leftUs;
    return Math.min(leftUs, this.#budgetUs - this.#frameSpentUs);
  }

  /** Something ran inline. Returns true when the end of this turn has to be told from now on. */
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
