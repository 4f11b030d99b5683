// SPDX-License-Identifier: MIT OR Apache-2.0
import { type CountedFrames, countDroppedFrames } from "./summarize.js";

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

/**
 * The number of gaps between frames that are counted together: half a minute at 60 Hz. The display's rate is computed from their median.
 */
const gapsMax = 1800;
/**
 * The number of gaps that are kept with their times, for unexplained stalls: 2 s at 60 Hz. This is over ten times the observer's
 * `settleMs`, the time after which the recorder looks for a stall's cause.
 */
const recentGapsMax = 128;
/** The number of frames between two computations of the display's rate. Sorting the gaps for each stall would cost too much. */
const rateFrames = 60;

/** Counts the display's frames and the dropped ones, with bounded memory. */
export class FrameLog {
  #gaps: number[] = [];
  #earlierGaps: number[] = [];
  #lastMs: number | undefined;
  #expected = 0;
  #dropped = 0;
  readonly #recentGaps = new SpanRing<number>(recentGapsMax);
  #frameMs = 0;
  #framesUntilRate = 0;

  frame(atMs: number): void {
    if (this.#lastMs !== undefined && atMs > this.#lastMs) {
      this.#gaps.push(atMs - this.#lastMs);
      this.#recentGaps.add(this.#lastMs, atMs, atMs);
      this.#framesUntilRate--;
    }
    this.#lastMs = atMs;
    if (this.#gaps.length < gapsMax) return;
    const counted = this.count();
    this.#expected = counted?.expected ?? this.#expected;
    this.#dropped = counted?.dropped ?? this.#dropped;
    this.#earlierGaps = this.#gaps;
    this.#gaps = [];
  }

  /** Begins a run. Earlier frames are no longer counted; they only help to find the display's rate. */
  begin(): void {
    this.#earlierGaps = [...this.#earlierGaps, ...this.#gaps].slice(-gapsMax);
    this.#gaps = [];
    this.#expected = 0;
    this.#dropped = 0;
  }

  /** Ignores the time until the next frame, because the page was hidden. */
  interrupt(): void {
    this.#lastMs = undefined;
  }

  /**
   * Returns when the first missed frame of a span was due. The span lasts from `startMs` to `endMs`. Returns `undefined` if no frame was
   * missed.
   *
   * A missed frame appears late, in the span or after it. The thread, or the compositor that shows the frames, was blocked from the
   * returned time on.
   */
  missedSince(startMs: number, endMs: number): number | undefined {
    if (this.#framesUntilRate <= 0) {
      const hz = this.count()?.hz;
      if (hz === undefined) return undefined;
      this.#frameMs = 1000 / hz;
      this.#framesUntilRate = rateFrames;
    }
    let sinceMs: number | undefined;
    for (const { startMs: gapStartMs, value: gapEndMs } of this.#recentGaps.during(startMs, endMs)) {
      // A frame that is late by less than half a frame time is not missed. `count` uses the same limit.
      if (gapEndMs - gapStartMs < this.#frameMs * 1.5) continue;
      const dueMs = gapStartMs + this.#frameMs;
      if (dueMs < endMs) sinceMs = Math.min(sinceMs ?? dueMs, dueMs);
    }
    return sinceMs;
  }

  /** Returns the counts of the run, or `undefined` if there were too few frames. */
  count(): CountedFrames | undefined {
    const known = [...this.#earlierGaps, ...this.#gaps];
    const all = countDroppedFrames(known);
    if (!all || (this.#gaps.length === 0 && this.#expected === 0)) return undefined;
    const frameMs = 1000 / all.hz;
    let dropped = 0;
    for (const gap of this.#gaps) dropped += Math.max(0, Math.round(gap / frameMs) - 1);
    return {
      hz: all.hz,
      expected: this.#expected + this.#gaps.length + dropped,
      dropped: this.#dropped + dropped,
    };
  }
}
