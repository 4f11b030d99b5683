// SPDX-License-Identifier: MIT OR Apache-2.0
// HdrHistogram of nanoseconds: three significant digits, so a value is known to 0.1 %; grows as needed.
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
  // A clock may step back by its own granularity between two threads: such a sample counts as the smallest one, 1 ns.
  for (const value of ns) histogram.recordValue(Math.max(1, Math.round(value)));
  return histogram;
}

export function encodeHistogram(histogram: Histogram): string {
  return encodeIntoCompressedBase64(histogram);
}

export function decodeHistogram(base64: string): Histogram {
  return decodeFromCompressedBase64(base64, 64);
}

/** One histogram of all rounds. Neither copies nor changes its inputs. */
export function mergeHistograms(parts: readonly Histogram[]): Histogram {
  const whole = histogramOf([]);
  for (const part of parts) whole.add(part);
  return whole;
}
