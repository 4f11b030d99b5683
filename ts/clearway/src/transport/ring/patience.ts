// SPDX-License-Identifier: MIT OR Apache-2.0

// What a wake-up adds to a wait that ended in sleep: 20 to 40 us here. A wait that was no longer than that above the
// longest patience would have ended awake.
const wakeUs = 30;
// For how long waiting awake stays off after the scheduler has taken the core away in the midst of it: somebody else needs
// it. A few of its time slices.
const distrustMs = 5;

/**
 * How long to wait awake before going to sleep, tuned by what became of it: halves when nothing came, is whole again when
 * something came that a whole one would have met. A pure value; the clock is the caller's.
 */
export class Patience {
  #us: number;
  #distrustedUntilMs = 0;

  /** `maxUs`: the most. `minUs`: below it, waiting awake is given up altogether; or, with `keep`, never less than that. */
  constructor(
    private readonly maxUs: number,
    private readonly minUs: number,
    private readonly keep: boolean,
  ) {
    this.#us = maxUs;
  }

  /** Microseconds to wait awake from now on. */
  at(clockMs: number): number {
    return clockMs < this.#distrustedUntilMs ? 0 : this.#us;
  }

  /** Something came, after so long. */
  came(waitedUs: number): void {
    if (waitedUs <= this.maxUs + wakeUs) this.#us = this.maxUs;
  }

  /** Nothing came in time. */
  gaveUp(): void {
    this.#us /= 2;
    if (this.#us < this.minUs) this.#us = this.keep ? this.minUs : 0;
  }

  /** The clock jumped while this thread was waiting awake: the core was taken from it. */
  jumped(clockMs: number): void {
    this.#distrustedUntilMs = clockMs + distrustMs;
  }
}
