// SPDX-License-Identifier: MIT OR Apache-2.0

/**
 * Returns the expected number of frames that stalls drop at `hz`.
 *
 * A frame takes P = 1000 / hz milliseconds. On average over all phases, a stall of length b covers b / P frames. The last of these frames
 * still appears, but late, so b / P - 1 frames are dropped.
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
 * Counts the dropped frames, from the gaps between the shown frames.
 *
 * The median gap gives the display's rate, if most frames appear in time. If most frames are late, the list of stalls shows the
 * problem.
 *
 * Returns `undefined` for fewer than 4 gaps, which are too few to find the display's rate.
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
