// SPDX-License-Identifier: MIT OR Apache-2.0

// In microseconds. The time that wake-ups add to a wait that ended in sleep: one wake-up in each direction, 20 to 50 us each (measured).
// If a wait was longer than the longest spin by no more than this, a spin might have caught its answer.
const wakeUs = 100;
// In milliseconds, a few time slices. After the scheduler has preempted a spin, another thread needs the core. Spinning then stays off
// for this time.
const preemptedOffMs = 5;
// The maximum number of soon answers between two trials. A failed trial costs a full spin. That is three to ten times the time of an
// answer that wakes a sleeper on a shared core. At this rate, trials add at most a tenth to the time of the answers.
const trialGapMax = 127;

/**
 * Decides how long to spin before sleeping, from the outcomes of earlier waits. Has no clock: the caller passes the time.
 *
 * The spin time is either the maximum or 0. An answer during a spin sets it to the maximum. A spin without an answer sets it to 0.
 *
 * A soon answer is one that arrives soon after the thread has gone to sleep. There are two possible causes. Either a longer spin would have
 * caught the answer, or the spin itself delayed the other side because both sides share a core. A trial, which is one more spin, finds
 * the cause. The first soon answer starts a trial. After each failed trial, 1, 3, 7, ... up to 127 soon answers pass before the next one.
 */
export class AdaptiveSpin {
  #us: number;
  /** `#soonAnswers`: soon answers since the last trial. `#trialGap`: soon answers that must pass before the next trial. */
  #soonAnswers = 0;
  #trialGap = 0;
  #offUntilMs = 0;

  constructor(private readonly maxUs: number) {
    this.#us = maxUs;
  }

  /** Returns how long to spin at this time, in microseconds. 0 means not at all. */
  usAt(clockMs: number): number {
    return clockMs < this.#offUntilMs ? 0 : this.#us;
  }

  /** Records that an answer arrived during a spin. */
  caught(): void {
    this.#us = this.maxUs;
    this.#trialGap = 0;
  }

  /** Records that an answer woke the sleeping thread. `waitedUs` is the time since the wait began. */
  woken(waitedUs: number): void {
    if (!(waitedUs <= this.maxUs + wakeUs) || this.#us > 0 || this.#soonAnswers++ < this.#trialGap) return;
    this.#us = this.maxUs;
    this.#soonAnswers = 0;
    this.#trialGap = Math.min(2 * this.#trialGap + 1, trialGapMax);
  }

  /** Records that no answer arrived during the spin. */
  gaveUp(): void {
    this.#us = 0;
  }

  /** Records that the clock jumped during a spin: the scheduler took the core away. */
  jumped(clockMs: number): void {
    this.#offUntilMs = clockMs + preemptedOffMs;
  }
}
