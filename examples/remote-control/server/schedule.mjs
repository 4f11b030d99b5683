// SPDX-License-Identifier: MIT OR Apache-2.0
// What one direction of a bad link does to the bytes that pass: a pure value, driven by whoever has the clock.

/**
 * @typedef {object} Weather
 * @property {number} delayMs how long everything is under way, at least
 * @property {number} lossRate the part of segments that are lost, 0 to 1. TCP sends a lost one again when its retransmission
 *   timer runs out, and nothing behind it is given out before that.
 * @property {number} retransmitMs how long that takes; 200 ms is the least that Linux waits
 * @property {number} bytesPerSecond what fits through; Infinity for no limit
 */

/** @type {Weather} */
export const fair = { delayMs: 0, lossRate: 0, retransmitMs: 200, bytesPerSecond: Number.POSITIVE_INFINITY };

export class Schedule {
  #weather = fair;
  /** When the last segment has been put on the link, and when it comes out. */
  #sentMs = 0;
  #dueMs = 0;
  #random;

  /** @param {() => number} random 0 to 1, as Math.random gives */
  constructor(random) {
    this.#random = random;
  }

  /** @param {Weather} weather holds for what is sent from now on */
  set(weather) {
    this.#weather = weather;
  }

  /**
   * When a segment that is sent now comes out at the other end. Never before one that was sent earlier.
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
