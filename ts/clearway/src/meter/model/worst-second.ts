// SPDX-License-Identifier: MIT OR Apache-2.0

const windowMs = 1000;

export interface Span {
  readonly startMs: number;
  readonly lengthMs: number;
}

/**
 * Returns the second of the run with the most stalled time. Takes O(n log n).
 *
 * The result is exact over all positions of the second, not only over whole seconds. Imagine that a window of one second slides over the
 * run. The slope of its stalled time changes only when an edge of the window meets an edge of a stall. The maximum therefore occurs when
 * the window starts at a stall's start or ends at a stall's end.
 *
 * `stalls` must be in order and must not overlap. The run is the time from `fromMs` to `untilMs`.
 */
export function worstSecond(
  stalls: readonly Span[],
  untilMs: number,
  fromMs = 0,
): { startMs: number; stalledMs: number } {
  const ends = stalls.map((stall) => stall.startMs + stall.lengthMs);
  const stalledBefore = [0];
  for (const stall of stalls) stalledBefore.push(stalledBefore.at(-1)! + stall.lengthMs);
  const stalledUntil = (atMs: number): number => {
    let low = 0;
    let high = stalls.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (ends[middle]! <= atMs) low = middle + 1;
      else high = middle;
    }
    const partial = stalls[low];
    return stalledBefore[low]! + (partial ? Math.max(0, atMs - partial.startMs) : 0);
  };
  let worst = { startMs: fromMs, stalledMs: 0 };
  const lastStartMs = Math.max(fromMs, untilMs - windowMs);
  for (const [index, stall] of stalls.entries()) {
    for (const candidate of [stall.startMs, ends[index]! - windowMs]) {
      const startMs = Math.min(Math.max(fromMs, candidate), lastStartMs);
      const stalledMs = stalledUntil(startMs + windowMs) - stalledUntil(startMs);
      if (stalledMs > worst.stalledMs) worst = { startMs, stalledMs };
    }
  }
  return worst;
}
