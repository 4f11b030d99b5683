// SPDX-License-Identifier: MIT OR Apache-2.0

// Divides each octave into 16 linear buckets, so a value is off by at most 1/32 of itself. Values below 16 have one bucket per microsecond.
// The octaves end at 2^31 us (36 minutes). The last bucket counts all larger values.
const stepBits = 4;
const steps = 1 << stepBits;
const octaves = 32 - stepBits;
const buckets = steps * octaves;

/** Summary of a histogram. All fields except `count` are in microseconds. */
export interface Summary {
  count: number;
  /** Sum of all samples. It only grows, as metrics require; `mean * count` is not exact. */
  sum: number;
  min: number;
  mean: number;
  p50: number;
  p90: number;
  p99: number;
  max: number;
  /** Number of samples of less than 16, 64, 256 ... 2^24 us (16.8 s): the buckets of a histogram for metrics, in this order. */
  buckets: number[];
}

/** Upper bounds of a summary's buckets, in microseconds: powers of 4, which the histogram counts exactly. */
export const bucketBoundsUs: readonly number[] = Array.from({ length: 11 }, (_, at) => 4 ** (at + 2));

/**
 * Counts durations in microseconds in log-linear buckets.
 *
 * Allocates 1.8 KB once and nothing afterwards. A quantile is within 3.2 % of the true value, or within 1 us below 16 us. The lab keeps
 * full HdrHistograms, which would be too expensive in the library.
 */
export class Histogram {
  readonly #counts = new Uint32Array(buckets);
  #count = 0;
  #sum = 0;
  #min = Number.POSITIVE_INFINITY;
  #max = 0;

  /**
   * Adds one duration in microseconds. A negative duration counts as 0. Durations can be negative because the clocks of two threads may
   * disagree.
   */
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

  /** Returns a quantile in microseconds: a share `q` (0 to 1) of the samples is at most this long. Returns NaN if there are no samples. */
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

  // Returns the number of samples below each bound, in one pass.
  #cumulative(): number[] {
    let seen = 0;
    let at = 0;
    return bucketBoundsUs.map((bound) => {
      for (const end = bucketOf(bound); at < end; at++) seen += this.#counts[at]!;
      return seen;
    });
  }

  summary(): Summary {
    const empty = this.#count === 0;
    return {
      count: this.#count,
      sum: this.#sum,
      min: empty ? Number.NaN : this.#min,
      mean: this.#sum / this.#count,
      p50: this.quantile(0.5),
      p90: this.quantile(0.9),
      p99: this.quantile(0.99),
      max: empty ? Number.NaN : this.#max,
      buckets: this.#cumulative(),
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

/** How long each phase of a task's calls took, in microseconds. */
export interface TaskTimings {
  /** Time from the call until the pool sent it to a worker. */
  queueUs?: Summary;
  /** Time from sending until the task started. */
  transitUs?: Summary;
  /** Run time of the task. */
  runUs?: Summary;
  /** Time from the end of the task until its answer reached the caller's thread. */
  returnUs?: Summary;
}

/** How long the phases of one call took, in microseconds. See `stats()`. */
export interface CallTiming {
  readonly task: string;
  readonly queueUs: number;
  readonly transitUs: number;
  readonly runUs: number;
  readonly returnUs: number;
}

/** The times of one call: submitted, posted, started, finished, answered. All are in milliseconds on one clock. */
type CallTimes = readonly [number, number, number, number, number];

// The phases of a call, in order.
const parts = ["queueUs", "transitUs", "runUs", "returnUs"] as const;

/** Histograms of the call times of each task of a pool. A pool has them with `metrics: true`. */
export class Timings {
  readonly #histograms = new Map<string, Histogram[]>();
  readonly #failed: (reason: unknown) => void;
  readonly #listener: ((call: CallTiming) => void) | undefined;

  /** `failed` receives each error of `listener`. */
  constructor(failed: (reason: unknown) => void, listener?: (call: CallTiming) => void) {
    this.#failed = failed;
    this.#listener = listener;
  }

  /** Adds the four phases of one call. Allocates only at the first call of a task. */
  enter(task: string, times: CallTimes): void {
    let histograms = this.#histograms.get(task);
    if (!histograms) {
      histograms = parts.map(() => new Histogram());
      this.#histograms.set(task, histograms);
    }
    histograms.forEach((histogram, at) => {
      histogram.record((times[at + 1]! - times[at]!) * 1000);
    });
    if (this.#listener) this.#tell(this.#listener, task, times);
  }

  #tell(listener: (call: CallTiming) => void, task: string, times: CallTimes): void {
    // The clocks of two threads may disagree by some microseconds.
    const us = (at: number): number => Math.max(0, (times[at + 1]! - times[at]!) * 1000);
    try {
      listener({ task, queueUs: us(0), transitUs: us(1), runUs: us(2), returnUs: us(3) });
    } catch (reason) {
      this.#failed(reason);
    }
  }

  /** Returns the summaries of a task's calls, or an empty object if there are none. */
  of(task: string): TaskTimings {
    const histograms = this.#histograms.get(task) ?? [];
    return Object.fromEntries(histograms.map((histogram, at) => [parts[at], histogram.summary()]));
  }
}
