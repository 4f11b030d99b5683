// SPDX-License-Identifier: MIT OR Apache-2.0

/** The smallest relative gain by which a window counts as faster. Windows vary by less than that anyway. */
const GAIN_MIN = 0.05;
/**
 * After this many windows without a gain, none is expected: compilers and carriers take effect in stages, some 100 ms apart.
 */
export const WINDOWS_WITHOUT_GAIN = 10;

/** Decides from successive windows of calls whether a way has reached its full speed. Ignores slow windows. */
export class WarmUpJudge {
  #best = Number.POSITIVE_INFINITY;
  #withoutGain = 0;

  /** Takes the mean time of a call in the next window, in any unit. Returns whether the way is warm. */
  isWarmAfter(perCall: number): boolean {
    if (perCall < this.#best * (1 - GAIN_MIN)) {
      this.#best = perCall;
      this.#withoutGain = 0;
    } else this.#withoutGain++;
    return this.#withoutGain >= WINDOWS_WITHOUT_GAIN;
  }

  /** The fastest window so far, within the smallest gain. */
  get best(): number {
    return this.#best;
  }
}
