// SPDX-License-Identifier: MIT OR Apache-2.0

// Number of measured periods that a price needs. `traffic.ts` defines a period.
const periodsNeeded = 3;
// Window of the mean price, in periods. One period counts for at most `hopClip` times the mean.
const hopWindow = 8;
const hopClip = 4;
// Number of burst classes: 1, 2, 3 to 4, 5 to 8 … calls. The last class has all bursts of more than 2^13 calls.
const classes = 15;
// Number of runs in a block. Blocks are compared by their median, because a pause of the garbage collector in one run says nothing about
// the task.
const blockRuns = 16;
// Code counts as compiled on both threads if an inline run takes at most this many times as long as a run in a worker.
const warmBelow = 1.25;
// A run counts as cold code, and not as a slow task, if it takes at most this many times the worker's time. The worker's time is the one
// that it had after the same number of runs.
const coldBelow = 1.5;
// Limits of the warm-up, in runs and in microseconds. JIT compilers need many runs: `map`, `filter` and `reduce` over 1,000 elements took
// 20 us at first, and 6 us after some 2,500 runs, both in the worker and on the caller's thread. Code that is still slow at one of these
// limits stays slow.
const runsMax = 4096;
const usMax = 100_000;
// Maximum number of runs that are slower than the worker's own first runs. After that, the warm-up ends: the task is slow on this thread.
const unexplainedRunsMax = 256;
// Number of buckets per octave, from 4 us to 2^31 us. Below 4 us, there is one bucket per microsecond. A bound is at most a quarter too
// high. With one bucket per octave, it was up to twice as high. A task's first inline run needs room for twice the bound, so tasks that
// took more than a quarter of the budget never ran inline.
const bucketsAnOctave = 4;
const buckets = bucketsAnOctave * 30;
// Every 64 samples, the weight of all samples is reduced by a quarter. The total weight is then about 256, enough for a quantile of 0.99. A
// task that has become short counts as short after 1,024 runs (0.75^16 is 0.01).
const ageEvery = 64;
const keep = 3 / 4;
const upperShare = 0.99;
// Window of the mean, in samples. The pool's `Estimate` has the same window.
const meanWindow = 32;
// A sample counts for at most this many times the mean, or this many microseconds if the mean is below 1 us. Without this limit, one pause
// of the garbage collector in a thousand runs of 1 us would double the mean.
const clip = 8;
// Number of runs within the limit after which a run over the limit is forgotten. A single pause of the machine is thus forgotten. A task
// that is long once in twenty calls is practically never trusted: the chance of 256 short runs in a row is 2 in a million.
const forgiveAfterRuns = 256;
// The same number for a worker's first run. A first run may read a table or compile code, and the first run on another thread would do so
// too.
const forgiveFirstAfterRuns = 1000;

interface Price {
  us: number;
  periods: number;
}

/** The price of a hop, in microseconds per call to a worker and back, by the size of the burst. Reads no clock and starts no thread. */
export class Hop {
  readonly #prices: (Price | undefined)[] = new Array(classes).fill(undefined);

  learn(burst: number, us: number): void {
    const at = burstClass(burst);
    this.#prices[at] ??= { us, periods: 0 };
    const price = this.#prices[at];
    price.periods++;
    const clipped = price.periods <= periodsNeeded ? us : Math.min(us, hopClip * Math.max(1, price.us));
    price.us += (clipped - price.us) / Math.min(price.periods, hopWindow);
  }

  /**
   * Returns the price per call in a burst of this size. If this size has no price, returns that of the nearest size. Returns undefined if
   * no price is known.
   */
  us(burst: number): number | undefined {
    const at = burstClass(burst);
    for (let away = 0; away < classes; away++) {
      // Prefers larger bursts, because their price per call is lower. A price that is too low keeps a call in the worker, which is safe.
      const price = this.#known(at + away) ?? this.#known(at - away);
      if (price !== undefined) return price.us;
    }
    return undefined;
  }

  #known(at: number): Price | undefined {
    const price = this.#prices[at];
    return price !== undefined && price.periods >= periodsNeeded ? price : undefined;
  }
}

/** Returns the class of a burst. All bursts of a class have the same price. */
export function burstClass(burst: number): number {
  return Math.min(classes - 1, 32 - Math.clz32(Math.max(0, burst - 1)));
}

/**
 * Detects the end of a thread's JIT warm-up, so that the first runs do not count as the task's cost. Code that is not compiled yet runs
 * many times slower. The expected length of the warm-up comes from the worker's own first runs. Reads no clock and starts no thread.
 */
export class JitWarmup {
  /** Mean time in microseconds of the worker's runs 1, 2 to 3, 4 to 7 … */
  readonly #curve: number[] = [];
  #workerRuns = 0;
  #block: number[] = [];
  #runs = 0;
  #us = 0;
  #unexplainedRuns = 0;
  #over = false;

  get over(): boolean {
    return this.#over;
  }

  /** Adds a run in a worker. */
  ran(us: number): void {
    if (this.#over || this.#workerRuns > runsMax * 8) return;
    const octave = 31 - Math.clz32(++this.#workerRuns);
    const within = this.#workerRuns - 2 ** octave + 1;
    const before = this.#curve[octave] ?? 0;
    this.#curve[octave] = before + (us - before) / within;
  }

  /** Adds an inline run of `us` microseconds. `runUs` is the mean time of a run in the `workers` workers, which are warm. */
  ranInline(us: number, runUs: number, workers: number): void {
    this.#runs++;
    this.#us += us;
    this.#block.push(us);
    if (this.#block.length < blockRuns) return;
    const medianUs = this.#block.sort((a, b) => a - b)[blockRuns / 2]!;
    this.#block = [];
    // The curve counts the runs of all workers together. When each worker had as many runs as this thread has now, all workers together had
    // `workers` times as many.
    const octave = 31 - Math.clz32(this.#runs * workers);
    if (medianUs > Math.max(1, this.#curve[octave] ?? 0) * coldBelow) this.#unexplainedRuns += blockRuns;
    const warm = medianUs <= Math.max(1, runUs) * warmBelow;
    this.#over = warm || this.#unexplainedRuns >= unexplainedRunsMax || this.#runs >= runsMax || this.#us >= usMax;
  }
}

/**
 * The cost of runs, in microseconds: a mean that one slow run hardly changes, an upper bound, and whether a recent run exceeded the limit.
 * Allocates 960 bytes once. Reads no clock and starts no thread.
 */
export class Cost {
  readonly #limitUs: number;
  readonly #weights = new Float64Array(buckets);
  #total = 0;
  #count = 0;
  #meanUs = 0;
  #expecting = false;
  #upperUs = 0;
  #forgiveIn = 0;

  constructor(limitUs: number) {
    this.#limitUs = limitUs;
  }

  add(us: number): void {
    this.#count++;
    const clipped = this.#expecting ? Math.min(us, clip * Math.max(1, this.#meanUs)) : us;
    if (this.#count === meanWindow / 2) this.#expecting = true;
    this.#meanUs += (clipped - this.#meanUs) / Math.min(this.#count, meanWindow);
    if (us > this.#limitUs)
      this.#forgiveIn = Math.max(this.#forgiveIn, this.#count === 1 ? forgiveFirstAfterRuns : forgiveAfterRuns);
    else if (this.#forgiveIn > 0) this.#forgiveIn--;
    const bucket = bucketOf(us);
    this.#weights[bucket]! += 1;
    this.#total++;
    if (this.#count % ageEvery === 0) this.#age();
    // Between two agings, the bound only grows. A bound that is too high costs a hop. A bound that is too low costs a stall.
    else if (topOf(bucket) > this.#upperUs) this.#upperUs = this.#quantile();
  }

  /** Adds `runs` runs of `us` microseconds each on average. Changes the mean only. */
  learnMean(us: number, runs: number): void {
    this.#meanUs += (us - this.#meanUs) * (runs / (runs + meanWindow));
  }

  /** Sets the mean to an expected value, in microseconds. */
  expect(us: number): void {
    this.#meanUs = us;
    this.#expecting = true;
  }

  /** Number of runs that were added with `add`. */
  get count(): number {
    return this.#count;
  }

  get meanUs(): number {
    return this.#meanUs;
  }

  /** Upper bound for 99 of 100 recent runs, in microseconds. The bound is at most a quarter too high, and 0 without runs. */
  get upperUs(): number {
    return this.#upperUs;
  }

  /** Whether no recent run took longer than the limit. */
  get withinLimit(): boolean {
    return this.#forgiveIn === 0;
  }

  #age(): void {
    this.#total = 0;
    for (let at = 0; at < buckets; at++) this.#total += this.#weights[at]! *= keep;
    this.#upperUs = this.#quantile();
  }

  #quantile(): number {
    let above = (1 - upperShare) * this.#total;
    let at = buckets - 1;
    // With fewer than 100 samples, each one has more than a hundredth of the weight. The bound is then the highest sample.
    for (; at > 0; at--) {
      above -= this.#weights[at]!;
      if (above < 0) break;
    }
    return topOf(at);
  }
}

/** Returns the bucket of a time in microseconds. A bucket is one microsecond wide below 4 us, and a quarter of an octave above. */
function bucketOf(us: number): number {
  const whole = Math.min(us, 2 ** 31 - 1) | 0;
  if (whole < bucketsAnOctave) return whole;
  const octave = 29 - Math.clz32(whole);
  return octave * bucketsAnOctave + (whole >>> octave);
}

/** Returns the upper end of a bucket, in microseconds. */
function topOf(bucket: number): number {
  if (bucket < bucketsAnOctave) return bucket + 1;
  const octave = Math.floor(bucket / bucketsAnOctave) - 1;
  return ((bucket % bucketsAnOctave) + bucketsAnOctave + 1) * 2 ** octave;
}
