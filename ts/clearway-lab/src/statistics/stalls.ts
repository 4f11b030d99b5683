// SPDX-License-Identifier: MIT OR Apache-2.0
// The two figures that convert stalls to frames, for any frame rate.

/** Returns the hitch ratio: the time by which stalls exceed one frame, in milliseconds per second of the run. */
export function hitchMsPerSecond(stallsMs: readonly number[], totalMs: number, hz: number): number {
  if (totalMs <= 0) return 0;
  const beyond = stallsMs.reduce((sum, ms) => sum + Math.max(0, ms - 1000 / hz), 0);
  return (beyond / totalMs) * 1000;
}

/** Returns the number of whole frames for which the stalls last. Each stall is rounded down. */
export function droppedFrames(stallsMs: readonly number[], hz: number): number {
  return stallsMs.reduce((sum, ms) => sum + Math.max(0, Math.floor((ms * hz) / 1000)), 0);
}
