// SPDX-License-Identifier: MIT OR Apache-2.0
// The two figures that convert stalls to frames, for any frame rate, as docs/meter.md defines them.

/** Returns the hitch ratio: the time by which stalls exceed one frame, in milliseconds per second of the run. */
export function hitchMsPerSecond(stallsMs: readonly number[], totalMs: number, hz: number): number {
  if (totalMs <= 0) return 0;
  const beyond = stallsMs.reduce((sum, ms) => sum + Math.max(0, ms - 1000 / hz), 0);
  return (beyond / totalMs) * 1000;
}

/**
 * Returns the expected number of dropped frames: the sum of max(0, b hz/1000 - 1) over all stalls b, rounded once. A stall covers b hz/1000
 * frames on average. The last of them still appears, late.
 */
export function droppedFrames(stallsMs: readonly number[], hz: number): number {
  return Math.round(stallsMs.reduce((sum, ms) => sum + Math.max(0, (ms * hz) / 1000 - 1), 0));
}
