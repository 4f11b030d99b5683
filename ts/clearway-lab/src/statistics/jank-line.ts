// SPDX-License-Identifier: MIT OR Apache-2.0
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
