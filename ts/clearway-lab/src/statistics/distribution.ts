// SPDX-License-Identifier: MIT OR Apache-2.0
// Histograms of nanoseconds. Summarises one as the eight figures of the report, and names the quantiles that have too few samples.
import { build, decodeFromCompressedBase64, encodeIntoCompressedBase64, type Histogram } from "hdr-histogram-js";

export const QUANTILES = { p1: 0.01, p10: 0.1, p50: 0.5, p90: 0.9, p99: 0.99, p999: 0.999 } as const;
export type QuantileName = keyof typeof QUANTILES;
const QUANTILE_NAMES = Object.keys(QUANTILES) as QuantileName[];

/** Minimum number of samples that must be expected beyond a quantile, so that the quantile is supported. */
const SAMPLES_BEYOND_MIN = 20;

export interface Distribution {
  unit: "us" | "ms";
  n: number;
  min: number;
  mean: number;
  p1: number;
  p10: number;
  p50: number;
  p90: number;
  p99: number;
  p999: number;
  max: number;
  /** The quantiles with fewer than 20 samples beyond them. The report shows them in grey and never compares them. */
  unsupported?: QuantileName[];
}

const NS_PER = { us: 1e3, ms: 1e6 } as const;

/** Returns the number of samples that are expected beyond quantile `q` of `n` samples, on the side with fewer samples. */
export function samplesBeyond(n: number, q: number): number {
  // The result is rounded to 1e-6: 1000 * (1 - 0.98) must count as 20, not as 19.999999999999996.
  return Math.round(n * Math.min(q, 1 - q) * 1e6) / 1e6;
}

export function isSupported(n: number, q: number): boolean {
  return samplesBeyond(n, q) >= SAMPLES_BEYOND_MIN;
}

export function significant(value: number, digits = 4): number {
  return Number(value.toPrecision(digits));
}

export function distributionOf(histogram: Histogram, unit: "us" | "ms"): Distribution {
  const n = histogram.totalCount;
  const scale = (ns: number) => significant(ns / NS_PER[unit]);
  // The smallest and the largest value are also read as quantiles. The library's own `min` and `max` are exact before the histogram is
  // encoded and rounded afterwards, so the rounded `max` could be below p99.9.
  const at = (q: number) => scale(n === 0 ? 0 : histogram.getValueAtPercentile(q * 100));
  const unsupported = QUANTILE_NAMES.filter((name) => !isSupported(n, QUANTILES[name]));
  const { p1, p10, p50, p90, p99, p999 } = QUANTILES;
  return {
    unit,
    n,
    min: at(0),
    mean: scale(n === 0 ? 0 : histogram.mean),
    p1: at(p1),
    p10: at(p10),
    p50: at(p50),
    p90: at(p90),
    p99: at(p99),
    p999: at(p999),
    max: at(1),
    ...(unsupported.length > 0 ? { unsupported } : {}),
  };
}

// An HdrHistogram of nanoseconds. It has three significant digits, so values are exact to 0.1 %, and grows as needed.

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
