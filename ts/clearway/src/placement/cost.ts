// SPDX-License-Identifier: MIT OR Apache-2.0

// Periods before a price counts.
const periodsNeeded = 3;
// Window of the mean, in periods. One period counts for at most `hopClip` times the mean.
const hopWindow = 8;
const hopClip = 4;
// Classes of bursts: 1, 2, 3 to 4, 5 to 8 … calls. The last one has all bursts above 2^13.
const classes = 15;
// Runs are compared in blocks, by their median, because a pause of the garbage collector in one run says nothing about the task.
const blockRuns = 16;
// Nearly as fast as in a worker: the code is compiled on both threads.
const warmBelow = 1.25;
// Nearly as slow as the worker was after as many runs: the code is only cold.
const coldBelow = 1.5;
// JIT compilers need many runs: `map`, `filter` and `reduce` over 1,000 elements took 20 us at first, and 6 us after some 2,500 runs, in
// the worker and on the caller's thread. Code that is slow after this many runs, or this much time, stays slow.
const runsMax = 4096;
const usMax = 100_000;
// Most runs that are slower than the worker's own first runs explain.
const inexcusableMax = 256;
// Buckets per octave from 4 us to 2^31 us; below, one bucket per microsecond. A bound is at most a quarter too high. With whole octaves, it
// was up to twice as high. The first inline run needs room for twice the bound, so tasks above a quarter of the budget never had one.
const bucketsAnOctave = 4;
const buckets = bucketsAnOctave * 30;
// Every 64 samples, old samples lose a quarter of their weight. The total weight is then about 256, enough for a quantile of 0.99. A task
// that became short counts as short after 1,024 runs (0.75^16 is 0.01).
const ageEvery = 64;
const keep = 3 / 4;
const upperShare = 0.99;
// Window of the mean, in samples; the same as in the pool's `Estimate`.
const meanWindow = 32;
// A sample counts for at most this many times the mean, or this many microseconds if the mean is below 1 us. Otherwise one pause of the
// garbage collector in a thousand runs of 1 us would double the mean.
const clip = 8;
// Runs within the limit before one over the limit is forgotten. A task that is long once in twenty calls is then never trusted (the chance
// of 256 short runs in a row is 2 in a million), but a pause of the machine is forgotten.
const pardonAfter = 256;
// The same for a worker's first run. It may read a table or compile code, and the first run on another thread does so too.
const pardonFirstAfter = 1000;

interface Price {
  us: number;
  periods: number;
}

/** The price of a hop: microseconds per call to a worker and back, by the size of the burst. A pure value. */
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

  /** Returns the price per call in a burst of this size, or of the nearest known size. Undefined if none is known. */
  us(burst: number): number | undefined {
    const at = burstClass(burst);
    for (let away = 0; away < classes; away++) {
      // Larger bursts first, because their calls are cheaper. A price that is too low keeps a call in the worker, which is safe.
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

/** Returns the class of a burst. Bursts of one class have one price. */
export function burstClass(burst: number): number {
  return Math.min(classes - 1, 32 - Math.clz32(Math.max(0, burst - 1)));
}

/**
 * Keeps a thread's first runs out of the task's cost: code that is not compiled yet runs many times slower. The length of the warm-up is
 * read from the worker's own first runs. A pure value.
 */
export class JitWarmup {
  /** The worker's mean time of runs 1, 2 to 3, 4 to 7 … */
  readonly #curve: number[] = [];
  #workerRuns = 0;
  #block: number[] = [];
  #runs = 0;
  #us = 0;
  #inexcusable = 0;
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

  /** Adds an inline run. `runUs`: its time in one of `workers` workers now, which are warm. */
  ranInline(us: number, runUs: number, workers: number): void {
    this.#runs++;
    this.#us += us;
    this.#block.push(us);
    if (this.#block.length < blockRuns) return;
    const medianUs = this.#block.sort((a, b) => a - b)[blockRuns / 2]!;
    this.#block = [];
    // Each worker had as many runs as this thread has now when all workers together had `workers` times as many.
    const octave = 31 - Math.clz32(this.#runs * workers);
    if (medianUs > Math.max(1, this.#curve[octave] ?? 0) * coldBelow) this.#inexcusable += blockRuns;
    const warm = medianUs <= Math.max(1, runUs) * warmBelow;
    this.#over = warm || this.#inexcusable >= inexcusableMax || this.#runs >= runsMax || this.#us >= usMax;
  }
}

/**
 * The cost of runs, in microseconds: a mean that one slow run hardly moves, an upper bound, and whether a recent run exceeded the limit. A
 * pure value. Allocates 960 bytes once.
 */
export class Cost {
  readonly #limitUs: number;
  readonly #weights = new Float64Array(buckets);
  #total = 0;
  #count = 0;
  #meanUs = 0;
  #expecting = false;
  #upperUs = 0;
  #pardonIn = 0;

  constructor(limitUs: number) {
    this.#limitUs = limitUs;
  }

  add(us: number): void {
    this.#count++;
    const clipped = this.#expecting ? Math.min(us, clip * Math.max(1, this.#meanUs)) : us;
    if (this.#count === meanWindow / 2) this.#expecting = true;
    this.#meanUs += (clipped - this.#meanUs) / Math.min(this.#count, meanWindow);
    if (us > this.#limitUs)
      this.#pardonIn = Math.max(this.#pardonIn, this.#count === 1 ? pardonFirstAfter : pardonAfter);
    else if (this.#pardonIn > 0) this.#pardonIn--;
    const bucket = bucketOf(us);
    this.#weights[bucket]! += 1;
    this.#total++;
    if (this.#count % ageEvery === 0) this.#age();
    // Between two agings the bound only grows. A bound that is too high costs a hop, one that is too low a stall.
    else if (topOf(bucket) > this.#upperUs) this.#upperUs = this.#quantile();
  }

  /** Adds `runs` runs of `us` each on average, to the mean only. */
  learnMean(us: number, runs: number): void {
    this.#meanUs += (us - this.#meanUs) * (runs / (runs + meanWindow));
  }

  /** Starts the mean at an expected value. */
  expect(us: number): void {
    this.#meanUs = us;
    this.#expecting = true;
  }

  /** Number of runs that were added. */
  get count(): number {
    return this.#count;
  }

  get meanUs(): number {
    return this.#meanUs;
  }

  /** Bound for 99 of 100 recent runs, at most a quarter too high. 0 without runs. */
  get upperUs(): number {
    return this.#upperUs;
  }

  /** Whether no recent run took longer than the limit. */
  get withinLimit(): boolean {
    return this.#pardonIn === 0;
  }

  #age(): void {
    this.#total = 0;
    for (let at = 0; at < buckets; at++) this.#total += this.#weights[at]! *= keep;
    this.#upperUs = this.#quantile();
  }

  #quantile(): number {
    let above = (1 - upperShare) * this.#total;
    let at = buckets - 1;
    // With few samples, one of them is more than a hundredth, so the bound is their maximum.
    for (; at > 0; at--) {
      above -= this.#weights[at]!;
      if (above < 0) break;
    }
    return topOf(at);
  }
}

/** Returns the bucket of a time: a whole microsecond below 4 us, a quarter of an octave above. */
function bucketOf(us: number): number {
  const whole = Math.min(us, 2 ** 31 - 1) | 0;
  if (whole < bucketsAnOctave) return whole;
  const octave = 29 - Math.clz32(whole);
  return octave * bucketsAnOctave + (whole >>> octave);
}

/** Returns the upper end of a bucket. */
function topOf(bucket: number): number {
  if (bucket < bucketsAnOctave) return bucket + 1;
  const octave = Math.floor(bucket / bucketsAnOctave) - 1;
  return ((bucket % bucketsAnOctave) + bucketsAnOctave + 1) * 2 ** octave;
}
