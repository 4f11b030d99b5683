// SPDX-License-Identifier: MIT OR Apache-2.0

/**
 * The fastest way of a message between two threads, as the smallest difference of their clocks seen: receiver's time minus
 * sender's. Clocks that drift would make the smallest stale, so it is renewed from the last two windows.
 */
export class FastestWay {
  #olderMs = Number.POSITIVE_INFINITY;
  #taken = 0;

  /** `lagMs`: the smallest that is known from elsewhere. */
  constructor(
    private lagMs = Number.POSITIVE_INFINITY,
    private readonly window = 5_000,
  ) {}

  /** Infinite before the first message. */
  get ms(): number {
    return Math.min(this.lagMs, this.#olderMs);
  }

  take(lagMs: number): void {
    if (++this.#taken % this.window === 0) {
      this.#olderMs = this.lagMs;
      this.lagMs = lagMs;
    } else if (lagMs < this.lagMs) this.lagMs = lagMs;
  }
}
