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

// The published verdict of measureFrameDrops in one line.

/** The figures that the line needs, in milliseconds. */
export interface JankFigures {
  dropped60: number;
  lagMaxMs: number;
  lagMeanMs: number;
  probes: number;
}

/**
 * Returns the line: "Jank: 59 frames dropped, max lag 1001 ms", or "Smooth: max lag 8 ms, average 2 ms, 564 probes". `lagMax` is the text of
 * the longest lag.
 */
export function jankLine({ dropped60, lagMaxMs, lagMeanMs, probes }: JankFigures, lagMax = ms(lagMaxMs)): string {
  return dropped60 > 0
    ? `Jank: ${frames(dropped60)} dropped, max lag ${lagMax}`
    : `Smooth: max lag ${lagMax}, average ${ms(lagMeanMs)}, ${probes} ${probes === 1 ? "probe" : "probes"}`;
}

export function frames(count: number): string {
  return `${count} ${count === 1 ? "frame" : "frames"}`;
}

/** Formats a time with three significant digits. */
export function ms(value: number): string {
  return `${value >= 1000 ? Math.round(value) : Number(value.toPrecision(value >= 1 ? 3 : 2))} ms`;
}
