// SPDX-License-Identifier: MIT OR Apache-2.0
import type { HitchVerdicts } from "../report.js";

/**
 * Returns the hitch ratio: the time by which stalls exceed the frame time at `hz`, in milliseconds per second of the run. For stalls of
 * length b, a rate F and a run of length T, this is the sum of max(0, b - 1000/F) / T.
 */
export function hitchRatio(lengthsMs: readonly number[], durationMs: number, hz: number): number {
  if (durationMs <= 0) return 0;
  const frameMs = 1000 / hz;
  let hitchMs = 0;
  for (const length of lengthsMs) hitchMs += Math.max(0, length - frameMs);
  return (hitchMs / durationMs) * 1000;
}

/**
 * Returns the two published ratings of a hitch ratio. The strict limits are the 5 and 10 ms/s of Apple's Xcode Organizer and WWDC 2020
 * session 10077. The lenient limits are the newer 10, 25 and 50 ms/s.
 */
export function hitchVerdicts(msPerSecond: number): HitchVerdicts {
  return {
    strict: msPerSecond <= 5 ? "good" : msPerSecond <= 10 ? "warning" : "critical",
    lenient: msPerSecond <= 10 ? "good" : msPerSecond <= 25 ? "fair" : msPerSecond <= 50 ? "poor" : "critical",
  };
}
