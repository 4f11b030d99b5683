// SPDX-License-Identifier: MIT OR Apache-2.0

// What wake-ups add to a wait that ended in sleep: one in each direction, 20 to 50 us each here. A wait that exceeded the longest spin by
// no more than this might have ended awake.
const wakeUs = 100;
// How long spinning stays off after the scheduler has preempted it: another thread needs the core. A few time slices.
const distrustMs = 5;
// Most answers that are slept through between two trials. A failed trial costs a full spin, three to ten times the time of an answer met
// asleep on a shared core. At this rate, trials add at most a tenth.
const restMax = 127;

/**
 * Decides how long to spin before sleeping, from the outcomes of earlier waits. Has no clock: the caller passes the time.
 *
 * The time is either the maximum or 0. It is the maximum after an answer arrived during a spin, and 0 after a spin without one. An answer
 * soon after going to sleep has two possible reasons: a longer spin would have met it, or the spin itself delayed the other side, because
 * both share a core. A trial tells which: the first one comes at once, and after each failed trial the next one follows 1, 3, 7 and more
 * such answers later.
 */
export class AdaptiveSpin {
  #us: number;
  /** Soon answers since the last trial (`#slept`), and the number that must come before the next trial (`#rest`). */
  #slept = 0;
  #rest = 0;
  #distrustedUntilMs = 0;

  constructor(private readonly maxUs: number) {
    this.#us = maxUs;
  }

  /** Returns how long to spin from now on, in microseconds; 0 for not at all. */
  at(clockMs: number): number {
    return clockMs < this.#distrustedUntilMs ? 0 : this.#us;
  }

  /** An answer arrived during a spin. */
  met(): void {
    this.#us = this.maxUs;
    this.#rest = 0;
  }

  /** An answer woke the sleeper `waitedUs` after its wait had begun. */
  woken(waitedUs: number): void {
    if (!(waitedUs <= this.maxUs + wakeUs) || this.#us > 0 || this.#slept++ < this.#rest) return;
    this.#us = this.maxUs;
    this.#slept = 0;
    this.#rest = Math.min(2 * this.#rest + 1, restMax);
  }

  /** No answer arrived in time. */
  gaveUp(): void {
    this.#us = 0;
  }

  /** The clock jumped during a spin: the scheduler took the core away. */
  jumped(clockMs: number): void {
    this.#distrustedUntilMs = clockMs + distrustMs;
  }
}
