// SPDX-License-Identifier: MIT OR Apache-2.0

// The clock of a worker is read in whole microseconds.
const resolutionUs = 0.5;
// One run moves it by an eighth, unless it is told that more stands behind it, and counts for at most four times what is
// believed: a pause in one run is no news.
const oneRun = 1 / 8;
const clip = 4;

/**
 * How long a run takes on the caller's thread, with its copies, for each microsecond in a worker. Kept apart from the
 * two costs, because only one of them is fresh at a time and their quotient drifts least. A pure value.
 */
export class Ratio {
  #value = 1;
  #known = false;

  get value(): number {
    return this.#value;
  }

  /** Whether it was measured. */
  get known(): boolean {
    return this.#known;
  }

  learn(inlineUs: number, runUs: number, weight = oneRun): void {
    const sample = inlineUs / Math.max(runUs, resolutionUs);
    if (!this.#known) {
      this.#known = true;
      this.#value = sample;
      return;
    }
    const clipped = Math.min(Math.max(sample, this.#value / clip), this.#value * clip);
    this.#value += (clipped - this.#value) * weight;
  }

  inlineOf(runUs: number): number {
    return Math.max(runUs, resolutionUs) * this.#value;
  }

  runOf(inlineUs: number): number {
    return inlineUs / this.#value;
  }

  forget(): void {
    this.#value = 1;
    this.#known = false;
  }
}
