// SPDX-License-Identifier: MIT OR Apache-2.0

// To inline at 0.88 of the worker's price, back at 1.1 of it: whichever is better, staying in the other costs 14 % at most.
const enterBelow = 0.88;
const leaveAbove = 1.1;
// So many bursts in a row must speak for the other place.
const streakNeeded = 3;
// The share of the time that trying the other place may cost.
const exploreShare = 0.01;
// A try of a worker, while inline, at most every so many bursts; one of inline runs at most every so many calls.
const burstsBetween = 16;
const callsBetween = 256;

/**
 * Where calls of one kind, in bursts of one size, go: sticky, so that two prices that are nearly equal do not make them go
 * to and fro. A pure value.
 */
export class Choice {
  inline = false;
  #streak = 0;
  #purseUs = 0;
  #since = 0;

  /** Looks again, once a burst. Returns whether it changed its mind. */
  look(inlineUs: number, workerUs: number): boolean {
    const other = this.inline ? inlineUs > workerUs * leaveAbove : inlineUs < workerUs * enterBelow;
    this.#streak = other ? this.#streak + 1 : 0;
    if (this.#streak < streakNeeded) return false;
    this.inline = !this.inline;
    this.#streak = this.#since = this.#purseUs = 0;
    return true;
  }

  /** A call is placed: saves for a try of the other place, and says at a burst's first call whether its price is saved. */
  save(ownUs: number, tryUs: number, firstOfBurst: boolean): boolean {
    this.#purseUs += ownUs * exploreShare;
    if (!this.inline || firstOfBurst) this.#since++;
    if (!firstOfBurst || this.#purseUs < tryUs || this.#since < (this.inline ? burstsBetween : callsBetween))
      return false;
    this.#since = this.#purseUs = 0;
    return true;
  }

  /** Calls of so many bursts took so long inline, and were not placed one by one: saves for a try of a worker. */
  credit(ownUs: number, bursts: number): void {
    this.#purseUs += ownUs * exploreShare;
    this.#since += bursts;
  }

  /** The last run inline was a mistake. */
  leave(): void {
    this.inline = false;
    this.#streak = this.#since = this.#purseUs = 0;
  }
}
