// SPDX-License-Identifier: MIT OR Apache-2.0

/**
 * Tracks the fastest transit of a message between two threads: the smallest difference between the receiver's time and the sender's time.
 * Clocks drift, so an old minimum becomes stale. Only the minimums of the last two windows count. A window is a number of messages.
 */
export class FastestTransit {
  #olderMs = Number.POSITIVE_INFINITY;
  #count = 0;

  /** `lagMs` is a minimum that is known before the first message. */
  constructor(
    private lagMs = Number.POSITIVE_INFINITY,
    private readonly window = 5_000,
  ) {}

  /** The smallest difference, in milliseconds. Infinite if none is known. */
  get ms(): number {
    return Math.min(this.lagMs, this.#olderMs);
  }

  add(lagMs: number): void {
    if (++this.#count % this.window === 0) {
      this.#olderMs = this.lagMs;
      this.lagMs = lagMs;
    } else if (lagMs < this.lagMs) this.lagMs = lagMs;
  }
}
