// SPDX-License-Identifier: MIT OR Apache-2.0
import { type CallProfile, rounds } from "./call-profile.js";

// A period ends after this many answers at the latest, for calls that arrive faster than workers answer them.
const periodCalls = 512;

// Weight of one sample in the mean time of sending a call, and the maximum of a sample in microseconds. The maximum excludes pauses of the
// machine and the app's own code between two calls.
const sendShare = 1 / 8;
const sendMaxUs = 50;

/**
 * Measures the price of a hop to a worker and back, under the current load and with any transport. The measurements come from the calls
 * that go to workers and from their answers. Reads no clock of its own: the caller passes all times, in microseconds, or a function that
 * returns the time.
 *
 * A *burst* is a series of calls in one turn of the caller's code. The calls of a burst share messages and wake-ups. A *period* begins when
 * a call goes to a worker while no other call is in flight. The period ends with the answer after which no call is in flight. The duration
 * of a period, minus the workers' run times, is the cost of its hops: serializing, posting, waking, waiting and reading.
 */
export class Traffic {
  #burst = 0;
  #lastBurst = 1;
  #sendUs = 0;
  /** Time when the previous call of this burst went to a worker. Negative if the previous call did not go to a worker. */
  #sentAtUs = -1;
  // Number of calls of this burst that went to workers. These calls share the hop.
  #sent = 0;
  /** Number that identifies the current burst. */
  burstId = 0;
  /** Whether a burst has begun. If so, `burstEnded` will be called. */
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

  /** Returns the expected size of the burst, including the current call and `uncounted` calls that are not counted yet. */
  expected(uncounted: number): number {
    return Math.max(this.#burst + uncounted + 1, this.#lastBurst);
  }

  /** Counts calls of this burst that `called` did not count. */
  add(calls: number): void {
    this.#burst += calls;
  }

  /** Measures the time of sending the previous call, if that call went to a worker. Called when the next call is decided. */
  learnSend(nowUs: number): void {
    if (this.#sentAtUs < 0) return;
    this.#sendUs += (Math.min(nowUs - this.#sentAtUs, sendMaxUs) - this.#sendUs) * sendShare;
    this.#sentAtUs = -1;
  }

  /**
   * Returns how many microseconds of `leftUs`, the time that is left of the turn, inline runs may use. One run takes `inlineUs`.
   *
   * If the rest of the burst does not fit, some calls go to workers, and sending them takes time on this thread too. If sending a call
   * takes less time than running it, the method reserves the time for sending. The reserve is at most half of `budgetUs`, because sending
   * all calls may take longer than `leftUs`.
   */
  roomUs(leftUs: number, budgetUs: number, burst: number, inlineUs: number): number {
    const rest = burst - this.#burst;
    if ((rest + 1) * inlineUs <= leftUs || this.#sendUs >= inlineUs) return leftUs;
    return leftUs - Math.min(rest * this.#sendUs, budgetUs / 2);
  }

  /** Begins a burst. The caller must arrange for `burstEnded` to be called. */
  begin(): void {
    this.inBurst = true;
  }

  /** Ends the burst, because the caller's code has returned. Returns the size of the burst. */
  burstEnded(): number {
    this.inBurst = false;
    this.#lastBurst = this.#burst;
    this.#burst = this.#sent = 0;
    this.#sentAtUs = -1;
    this.burstId++;
    return this.#lastBurst;
  }

  /** Records that a call goes to a worker. `fromUs` is the time when its decision began. */
  sent(fromUs: number, nowUs: () => number): void {
    this.#sentAtUs = fromUs;
    this.#sent++;
    if (this.#underWay++ === 0) this.#begin(nowUs());
    if (this.#sent > this.#widest) this.#widest = this.#sent;
  }

  /** Records the answer of one of `workers` workers, after a run of `runUs`. */
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
    // If calls arrive slowly, a period consists mostly of the time between calls. The price is then the hop of the period's first call.
    const hopUs = Math.max(0, Math.min(restUs, this.#firstHopUs));
    if (!this.#tainted) for (const profile of this.#profiles) profile.learnHop(this.#widest, hopUs);
    if (!over) this.#begin(atUs);
  }

  /** Records that a call ended without an answer. The current period then measures nothing. */
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
