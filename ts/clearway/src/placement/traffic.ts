// SPDX-License-Identifier: MIT OR Apache-2.0
import { type CallProfile, rounds } from "./call-profile.js";

// A period ends after this many answers, even if calls keep arriving faster than they are answered.
const periodCalls = 512;

// Weight of one sample in the mean time that sending a call takes, and the limit of a sample. The limit excludes pauses of the machine and
// the app's own code between two calls.
const sendShare = 1 / 8;
const sendMaxUs = 50;

/**
 * Measures the price of a hop from the calls that go to workers and their answers, under the current load and with any carrier. A pure
 * value. Times are passed in, in microseconds.
 *
 * A *burst* is a series of calls in one turn of the caller's code. Its calls share messages and wake-ups. A *period* begins with a call
 * while none is open, and ends with the answer after which none is open. The time of a period, less the workers' own runs, is the cost of
 * its hops: serializing, posting, waking, waiting, reading.
 */
export class Traffic {
  #burst = 0;
  #lastBurst = 1;
  #sendUs = 0;
  /** When the previous call of this burst went to a worker; negative if it did not. */
  #sentAtUs = -1;
  // Calls of the burst that went to workers. They share the hop.
  #sent = 0;
  /** Number of the burst. */
  burstId = 0;
  /** Whether a burst has begun and `burstEnded` will be called. */
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

  /** Counts a call. Returns the expected size of its burst. */
  called(): number {
    this.#burst++;
    return Math.max(this.#burst, this.#lastBurst);
  }

  /** Returns the expected size of the burst, with `untold` calls that are not counted yet and the current one. */
  expected(untold: number): number {
    return Math.max(this.#burst + untold + 1, this.#lastBurst);
  }

  /** Counts calls of this burst that `called` did not count. */
  add(calls: number): void {
    this.#burst += calls;
  }

  /** Called when the next call is decided. If the previous one went to a worker, its sending has ended. */
  learnSend(nowUs: number): void {
    if (this.#sentAtUs < 0) return;
    this.#sendUs += (Math.min(nowUs - this.#sentAtUs, sendMaxUs) - this.#sendUs) * sendShare;
    this.#sentAtUs = -1;
  }

  /**
   * Returns the part of the turn's rest that inline runs may use, with `inlineUs` per call. If the rest of the burst does not fit, the time
   * to send it to workers is kept free, where sending is cheaper. That is at most half of `budgetUs`, because it may be longer than the
   * rest.
   */
  roomUs(leftUs: number, budgetUs: number, burst: number, inlineUs: number): number {
    const rest = burst - this.#burst;
    if ((rest + 1) * inlineUs <= leftUs || this.#sendUs >= inlineUs) return leftUs;
    return leftUs - Math.min(rest * this.#sendUs, budgetUs / 2);
  }

  /** A burst begins. The caller arranges for `burstEnded` to be called. */
  begin(): void {
    this.inBurst = true;
  }

  /** The caller's code has returned. Returns the size of the burst. */
  burstEnded(): number {
    this.inBurst = false;
    this.#lastBurst = this.#burst;
    this.#burst = this.#sent = 0;
    this.#sentAtUs = -1;
    this.burstId++;
    return this.#lastBurst;
  }

  /** A call whose decision began at `fromUs` goes to a worker. */
  left(fromUs: number, nowUs: () => number): void {
    this.#sentAtUs = fromUs;
    this.#sent++;
    if (this.#underWay++ === 0) this.#begin(nowUs());
    if (this.#sent > this.#widest) this.#widest = this.#sent;
  }

  /** A worker, one of `workers`, answered a call after a run of `runUs`. */
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
    // If calls arrive slowly, a period is mostly time between calls. The first call's own hop is then the price.
    const hopUs = Math.max(0, Math.min(restUs, this.#firstHopUs));
    if (!this.#tainted) for (const profile of this.#profiles) profile.learnHop(this.#widest, hopUs);
    if (!over) this.#begin(atUs);
  }

  /** A call ended without an answer, so this period measures nothing. */
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
