// SPDX-License-Identifier: MIT OR Apache-2.0
// Calculates the delays of one direction of a bad link. It reads no clock: the caller passes the time.

/**
 * @typedef {object} Weather
 * @property {number} delayMs minimum delay of every segment, in milliseconds
 * @property {number} lossRate share of segments that are lost, from 0 to 1. TCP sends a lost segment again when its retransmission timer
 *   expires. It delivers no later segment before that.
 * @property {number} retransmitMs duration of the retransmission timer, in milliseconds; Linux waits at least 200 ms
 * @property {number} bytesPerSecond rate of the link; Infinity means no limit
 */

/** @type {Weather} */
export const fair = { delayMs: 0, lossRate: 0, retransmitMs: 200, bytesPerSecond: Number.POSITIVE_INFINITY };

export class Schedule {
  #weather = fair;
  /** `#sentMs` is when the link has taken the whole of the last segment. `#dueMs` is when that segment arrives. */
  #sentMs = 0;
  #dueMs = 0;
  #random;

  /** @param {() => number} random returns a number from 0 to 1, as Math.random does */
  constructor(random) {
    this.#random = random;
  }

  /** @param {Weather} weather applies to segments that are sent from now on */
  set(weather) {
    this.#weather = weather;
  }

  /**
   * Returns when a segment that is sent now arrives at the other end. It never arrives before an earlier segment.
   *
   * @param {number} nowMs
   * @param {number} bytes
   */
  dueMs(nowMs, bytes) {
    const { delayMs, lossRate, retransmitMs, bytesPerSecond } = this.#weather;
    this.#sentMs = Math.max(this.#sentMs, nowMs) + (bytes / bytesPerSecond) * 1000;
    const lostMs = lossRate > 0 && this.#random() < lossRate ? retransmitMs : 0;
    this.#dueMs = Math.max(this.#dueMs, this.#sentMs + delayMs + lostMs);
    return this.#dueMs;
  }
}
