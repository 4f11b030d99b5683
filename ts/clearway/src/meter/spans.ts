// SPDX-License-Identifier: MIT OR Apache-2.0

interface Interval<Value> {
  readonly startMs: number;
  readonly endMs: number;
  readonly value: Value;
}

/**
 * A ring of fixed size for intervals with a value.
 *
 * The ring's memory stays bounded even if the app runs for ever. The recorder needs an interval only until `settleMs` after it.
 */
export class SpanRing<Value> {
  #intervals: Interval<Value>[] = [];
  #next = 0;

  constructor(private readonly spansMax: number) {}

  add(startMs: number, endMs: number, value: Value): void {
    this.#intervals[this.#next] = { startMs, endMs, value };
    this.#next = (this.#next + 1) % this.spansMax;
  }

  /** Returns the intervals that overlap a span, each with its overlap. An interval of length 0 inside the span has overlap 0. */
  during(startMs: number, endMs: number): { startMs: number; overlapMs: number; value: Value }[] {
    const found: { startMs: number; overlapMs: number; value: Value }[] = [];
    for (const interval of this.#intervals) {
      if (interval.endMs < startMs || interval.startMs > endMs) continue;
      const overlapMs = Math.min(endMs, interval.endMs) - Math.max(startMs, interval.startMs);
      found.push({ startMs: interval.startMs, overlapMs, value: interval.value });
    }
    return found;
  }

  overlapMs(startMs: number, endMs: number): number {
    let total = 0;
    for (const span of this.during(startMs, endMs)) total += span.overlapMs;
    return Math.min(total, endMs - startMs);
  }
}
