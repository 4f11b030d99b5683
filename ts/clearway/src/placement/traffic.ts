// SPDX-License-Identifier: MIT OR Apache-2.0
import { type CallProfile, rounds } from "./call-profile.js";

// A period that never ends (calls arrive faster than they are answered) is read after so many answers and begun anew.
const periodCalls = 512;

// What the sending of a call holds the caller for is a mean of late. A pause of the machine, or what an app does between two
// calls now and then, is not taken for it.
const sendShare = 1 / 8;
const sendMaxUs = 50;

/**
 * What goes to the workers of a pool, and how it comes back: from this a hop's price is learnt, as it is under the load of
 * the moment, on whatever carrier. A pure value; times in microseconds are passed in.
 *
 * A *burst* is the calls that are made without giving the thread back: they share messages and wake-ups. A *period* lasts
 * from a call that finds nothing under way to the answer after which nothing is. All that a period takes beyond the
 * workers' own runs is what its hops cost: serialising, posting, waking, waiting, reading.
 */
export class Traffic {
  #burst = 0;
  #lastBurst = 1;
  #sendUs = 0;
  /** When the call before this one went to a worker, in this burst; negative when it did not. */
  #sentAtUs = -1;
  // Of the burst, those that went to workers: they share the hop, and the others have no part in it.
  #sent = 0;
  /** Names the burst. */
  burstId = 0;
  /** Whether a burst is under way, of which the end will be told. */
  inBurst = false;
  #underWay = 0;
  #beganUs = 0;
  #calls = 0;
  #runUs = 0;
  #firstHopUs = Number.POSITIVE_INFINITY;
  #firstAnswered = false;
  #tainted = false;
  #widest = 1;
  readonly #profiles = new Set<CallProfile>();

  /** A call was made. Returns how many calls its burst is expected to have. */
  called(): number {
    this.#burst++;
    return Math.max(this.#burst, this.#lastBurst);
  }

  /** How many calls the burst is expected to have, with so many that were not told yet and the one that is made now. */
  expected(untold: number): number {
    return Math.max(this.#burst + untold + 1, this.#lastBurst);
  }

  /** Calls of this burst that were not told one by one. */
  add(calls: number): void {
    this.#burst += calls;
  }

  /** The next call is decided: if the one before went to a worker, what sending that took is known. */
  learnSend(nowUs: number): void {
    if (this.#sentAtUs < 0) return;
    this.#sendUs += (Math.min(nowUs - this.#sentAtUs, sendMaxUs) - this.#sendUs) * sendShare;
    this.#sentAtUs = -1;
  }

  /**
   * How much of what is left of the turn is for running here, `inlineUs` a call, after the call that was told last. Where the
   * burst's rest does not fit in, what sending it holds the thread for is kept free, if that is less: at most half of
   * `budgetUs`, for it may be longer than all that is left.
   */
  roomUs(leftUs: number, budgetUs: number, burst: number, inlineUs: number): number {
    const rest = burst - this.#burst;
    if ((rest + 1) * inlineUs <= leftUs || this.#sendUs >= inlineUs) return leftUs;
    return leftUs - Math.min(rest * this.#sendUs, budgetUs / 2);
  }

  /** A burst is under way from now on, and its end will be told. */
  begin(): void {
    this.inBurst = true;
  }

  /** The thread was given back. Returns how many calls the burst had. */
  burstEnded(): number {
    this.inBurst = false;
    this.#lastBurst = this.#burst;
    this.#burst = this.#sent = 0;
    this.#sentAtUs = -1;
    this.burstId++;
    return this.#lastBurst;
  }

  /** A call that was looked at at `fromUs` goes to a worker. */
  left(fromUs: number, nowUs: () => number): void {
    this.#sentAtUs = fromUs;
    this.#sent++;
    if (this.#underWay++ === 0) this.#begin(nowUs());
    if (this.#sent > this.#widest) this.#widest = this.#sent;
  }

  /** A call was answered, after `runUs` in one of `workers` workers. */
  answered(profile: CallProfile, runUs: number, workers: number, nowUs: () => number): void {
    this.#calls++;
    this.#runUs += runUs;
    this.#profiles.add(profile);
    if (!this.#firstAnswered) {
      this.#firstAnswered = true;
      this.#firstHopUs = nowUs() - this.#beganUs - runUs;
    }
    const over = --this.#underWay === 0;
    if (!over && this.#calls < periodCalls) return;
    const atUs = nowUs();
    const meanUs = this.#runUs / this.#calls;
    const restUs = (atUs - this.#beganUs - rounds(this.#calls, workers) * meanUs) / this.#calls;
    // Where calls trickle in, a period is mostly waiting for the next call: there the first one's own way is the hop.
    const hopUs = Math.max(0, Math.min(restUs, this.#firstHopUs));
    if (!this.#tainted) for (const profile of this.#profiles) profile.learnHop(this.#widest, hopUs);
    if (!over) this.#begin(atUs);
  }

  /** A call ended otherwise: what it took says nothing. */
  lost(): void {
    this.#underWay--;
    this.#tainted = true;
  }

  #begin(atUs: number): void {
    this.#beganUs = atUs;
    this.#calls = this.#runUs = 0;
    this.#firstHopUs = Number.POSITIVE_INFINITY;
    this.#firstAnswered = this.#tainted = false;
    this.#widest = Math.max(1, this.#sent);
    this.#profiles.clear();
  }
}
