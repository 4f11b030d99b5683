// SPDX-License-Identifier: MIT OR Apache-2.0

/**
 * Frames that stalls are expected to cost at `hz`. A stall of length b covers b / P frame times on average, over all
 * phases; the last of those frames still comes, late, so b / P - 1 are lost.
 */
export function expectedDroppedFrames(lengthsMs: readonly number[], hz: number): number {
  const frameMs = 1000 / hz;
  let dropped = 0;
  for (const length of lengthsMs) dropped += Math.max(0, length / frameMs - 1);
  return Math.round(dropped);
}

export interface CountedFrames {
  readonly hz: number;
  readonly expected: number;
  readonly dropped: number;
}

/**
 * Frames really dropped, from the times between the frames that came. The display's own rate is the median gap:
 * it holds as long as most frames come in time, and a run where they do not reports through its stalls anyway.
 *
 * Returns `undefined` under 4 gaps: too few to tell the display's rate.
 */
export function countDroppedFrames(gapsMs: readonly number[], minHz = 24): CountedFrames | undefined {
  if (gapsMs.length < 4) return undefined;
  const sorted = [...gapsMs].sort((a, b) => a - b);
  const frameMs = Math.min(sorted[sorted.length >> 1]!, 1000 / minHz);
  if (frameMs <= 0) return undefined;
  let dropped = 0;
  for (const gap of gapsMs) dropped += Math.max(0, Math.round(gap / frameMs) - 1);
  return { hz: Math.round(1000 / frameMs), expected: gapsMs.length + dropped, dropped };
}
