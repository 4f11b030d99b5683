// SPDX-License-Identifier: MIT OR Apache-2.0

/** Minimum relative gain by which a window counts as faster. Windows vary by less than that by chance. */
const GAIN_MIN = 0.05;
/**
 * Number of successive windows without a gain that end the warm-up. Compilers and adaptive mechanisms improve in stages, some 100 ms apart.
 */
export const WINDOWS_WITHOUT_GAIN = 10;

/** Decides from successive windows of calls whether a mechanism has reached its full speed. Slow windows count as no gain. */
export class WarmUpDetector {
  #best = Number.POSITIVE_INFINITY;
  #withoutGain = 0;

  /** Takes the mean time of a call in the next window, in any unit. Returns whether the mechanism is warm. */
  isWarmAfter(perCall: number): boolean {
    if (perCall < this.#best * (1 - GAIN_MIN)) {
      this.#best = perCall;
      this.#withoutGain = 0;
    } else this.#withoutGain++;
    return this.#withoutGain >= WINDOWS_WITHOUT_GAIN;
  }

  /** Returns the mean time of a call in the fastest window so far, exact to the minimum gain. */
  get best(): number {
    return this.#best;
  }
}
