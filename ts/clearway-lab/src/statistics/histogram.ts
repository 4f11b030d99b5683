// SPDX-License-Identifier: MIT OR Apache-2.0
// An HdrHistogram of nanoseconds. It has three significant digits, so values are exact to 0.1 %, and grows as needed.
import { build, decodeFromCompressedBase64, encodeIntoCompressedBase64, type Histogram } from "hdr-histogram-js";

export type { Histogram };

export function histogramOf(ns: Iterable<number>): Histogram {
  const histogram = build({
    lowestDiscernibleValue: 1,
    highestTrackableValue: 2,
    autoResize: true,
    numberOfSignificantValueDigits: 3,
    bitBucketSize: 64,
    useWebAssembly: false,
  });
  // The clocks of two threads may differ by a clock step, so a sample may be negative. It then counts as the smallest value, 1 ns.
  for (const value of ns) histogram.recordValue(Math.max(1, Math.round(value)));
  return histogram;
}

export function encodeHistogram(histogram: Histogram): string {
  return encodeIntoCompressedBase64(histogram);
}

export function decodeHistogram(base64: string): Histogram {
  return decodeFromCompressedBase64(base64, 64);
}

/** Merges the histograms of all rounds into a new one. Does not change the given histograms. */
export function mergeHistograms(parts: readonly Histogram[]): Histogram {
  const merged = histogramOf([]);
  for (const part of parts) merged.add(part);
  return merged;
}
