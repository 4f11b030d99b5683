// SPDX-License-Identifier: MIT OR Apache-2.0

// What wake-ups add to a wait that ended in sleep: one each way, 20 to 50 us here. A wait that was no longer than that above
// the longest patience might have ended awake.
const wakeUs = 100;
// For how long waiting awake stays off after the scheduler has taken the core away in the midst of it: somebody else needs
// it. A few of its time slices.
const distrustMs = 5;

// What is left to try again with when waiting awake had been given up, in microseconds: enough to meet a caller that calls
// back to back, too little to matter where waiting stands in somebody's way.
const trialUs = 12;

/**
 * How long to wait awake before going to sleep, tuned by what became of it. A pure value; the clock is the caller's.
 *
 * Whole again when something came while awake; a quarter when nothing came. When something came soon after going to sleep,
 * a longer wait might have met it, or it was this very waiting that held the other side up, because both share a core. So
 * that doubles it only: each such round still leaves less than before, and the rounds lose microseconds instead of all.
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

  /** Something came while awake. */
  met(): void {
    this.#us = this.maxUs;
  }

  /** Something came to a sleeper, so long after it had begun to wait. */
  woken(waitedUs: number): void {
    if (waitedUs <= this.maxUs + wakeUs) this.#us = Math.min(this.maxUs, Math.max(2 * this.#us, trialUs));
  }

  /** Nothing came in time. */
  gaveUp(): void {
    this.#us /= 4;
    if (this.#us < this.minUs) this.#us = this.keep ? this.minUs : 0;
  }

  /** The clock jumped while this thread was waiting awake: the core was taken from it. */
  jumped(clockMs: number): void {
    this.#distrustedUntilMs = clockMs + distrustMs;
  }
}
