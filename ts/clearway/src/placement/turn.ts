// SPDX-License-Identifier: MIT OR Apache-2.0

// Of a display with 60 frames a second. A hidden page draws no frames; there this is how soon a window ends.
const frameUs = 1e6 / 60;
// To be told when the event loop turns costs half a microsecond in Node: five runs of arithmetic. Until an eighth of the
// budget is spent, all inline runs are taken for runs of one turn.
const watchShare = 1 / 8;

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
