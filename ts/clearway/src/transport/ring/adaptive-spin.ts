// SPDX-License-Identifier: MIT OR Apache-2.0

// What wake-ups add to a wait that ended in sleep: one each way, 20 to 50 us here. A wait that was no longer than that above
// the longest spin might have ended awake.
const wakeUs = 100;
// For how long waiting awake stays off after the scheduler has taken the core away in the midst of it: somebody else needs
// it. A few of its time slices.
const distrustMs = 5;
// At most so many answers are slept through between two trials. A trial that fails costs a whole spin, three to ten times
// what an answer takes that is met asleep on a core that both share: so seldom, trials add a tenth at the most.
const restMax = 127;

/**
 * How long to wait awake before going to sleep, tuned by what became of it. A pure value; the clock is the caller's.
 *
 * Whole or nothing. Whole when something came while awake; nothing when nothing came. What comes soon after going to sleep
 * may be there because a longer wait would have met it, or because it was this very waiting that held the other side up, as
 * both share a core. A trial tells: one at once, and when that fails, too, the next after 1, 3, 7 and more such answers.
 */
export class AdaptiveSpin {
  #us: number;
  /** Answers that came soon since the last trial, and how many have to come before the next. */
  #slept = 0;
  #rest = 0;
  #distrustedUntilMs = 0;

  constructor(private readonly maxUs: number) {
    this.#us = maxUs;
  }

  /** Microseconds to wait awake from now on; 0 for not at all. */
  at(clockMs: number): number {
    return clockMs < this.#distrustedUntilMs ? 0 : this.#us;
  }

  /** Something came while awake. */
  met(): void {
    this.#us = this.maxUs;
    this.#rest = 0;
  }

  /** Something came to a sleeper, so long after it had begun to wait. */
  woken(waitedUs: number): void {
    if (!(waitedUs <= this.maxUs + wakeUs) || this.#us > 0 || this.#slept++ < this.#rest) return;
    this.#us = this.maxUs;
    this.#slept = 0;
    this.#rest = Math.min(2 * this.#rest + 1, restMax);
  }

  /** Nothing came in time. */
  gaveUp(): void {
    this.#us = 0;
  }

  /** The clock jumped while this thread was waiting awake: the core was taken from it. */
  jumped(clockMs: number): void {
    this.#distrustedUntilMs = clockMs + distrustMs;
  }
}
