// SPDX-License-Identifier: MIT OR Apache-2.0

// 16 linear steps per octave, so a value is off by at most 1/32 of itself. There are 16 values below the first octave, then 16 per
// octave up to 2^31 us (36 minutes). The last bucket takes all larger values.
const stepBits = 4;
const steps = 1 << stepBits;
const octaves = 32 - stepBits;
const buckets = steps * octaves;

/** A histogram's figures, in microseconds. */
export interface Summary {
  count: number;
  min: number;
  mean: number;
  p50: number;
  p90: number;
  p99: number;
  max: number;
}

/**
 * Counts durations in microseconds in log-linear buckets.
 *
 * It allocates 1.8 KB once and nothing afterwards. Quantiles are within 3.2 % of the true value. The lab keeps full HdrHistograms,
 * which would be too expensive in the library.
 */
export class Histogram {
  readonly #counts = new Uint32Array(buckets);
  #count = 0;
  #sum = 0;
  #min = Number.POSITIVE_INFINITY;
  #max = 0;

  /** Adds one duration in microseconds. Negative ones (the threads' clocks may disagree) count as 0. */
  record(us: number): void {
    const value = Math.max(us, 0);
    this.#count++;
    this.#sum += value;
    if (value < this.#min) this.#min = value;
    if (value > this.#max) this.#max = value;
    this.#counts[bucketOf(value)]!++;
  }

  get count(): number {
    return this.#count;
  }

  /**
   * Returns a quantile in microseconds: the value below which a share `q` (0 to 1) of the samples lies. Returns NaN if there are none.
   */
  quantile(q: number): number {
    if (this.#count === 0) return Number.NaN;
    const rank = Math.max(1, Math.ceil(q * this.#count));
    let seen = 0;
    for (let at = 0; at < buckets; at++) {
      seen += this.#counts[at]!;
      if (seen >= rank) return Math.min(this.#max, Math.max(this.#min, middleOf(at)));
    }
    return this.#max;
  }

  summary(): Summary {
    const empty = this.#count === 0;
    return {
      count: this.#count,
      min: empty ? Number.NaN : this.#min,
      mean: this.#sum / this.#count,
      p50: this.quantile(0.5),
      p90: this.quantile(0.9),
      p99: this.quantile(0.99),
      max: empty ? Number.NaN : this.#max,
    };
  }
}

function bucketOf(us: number): number {
  const whole = us >= 2 ** 31 ? 2 ** 31 - 1 : Math.floor(us);
  if (whole < steps) return whole;
  const octave = 31 - Math.clz32(whole);
  const step = (whole >>> (octave - stepBits)) - steps;
  return (octave - stepBits + 1) * steps + step;
}

function middleOf(bucket: number): number {
  if (bucket < steps) return bucket;
  const octave = Math.floor(bucket / steps) + stepBits - 1;
  const width = 2 ** (octave - stepBits);
  return 2 ** octave + (bucket % steps) * width + width / 2;
}
