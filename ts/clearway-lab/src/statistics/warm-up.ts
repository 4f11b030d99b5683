// SPDX-License-Identifier: MIT OR Apache-2.0

/** A window counts as quicker when it is so by this part: less is what windows differ by anyway. */
const GAIN_MIN = 0.05;
/** As many windows without a gain mean that none is to come: compilers and carriers step in by stages, some 100 ms apart. */
export const WINDOWS_WITHOUT_GAIN = 10;

/** Judges from successive windows of calls whether a way has become as quick as it gets. A slow window says nothing. */
export class WarmUpJudge {
  #best = Number.POSITIVE_INFINITY;
  #withoutGain = 0;

  /** Takes the mean time of a call in the next window, in any unit; tells whether the way is warm. */
  isWarmAfter(perCall: number): boolean {
    if (perCall < this.#best * (1 - GAIN_MIN)) {
      this.#best = perCall;
      this.#withoutGain = 0;
    } else this.#withoutGain++;
    return this.#withoutGain >= WINDOWS_WITHOUT_GAIN;
  }

  /** The quickest window so far, give or take the smallest gain. */
  get best(): number {
    return this.#best;
  }
}
