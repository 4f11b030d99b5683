// SPDX-License-Identifier: MIT OR Apache-2.0

// A price must have been seen this often before it is acted on.
const periodsNeeded = 3;
// The mean follows within about so many periods, and one period counts for at most this many times the mean.
const hopWindow = 8;
const hopClip = 4;
// Bursts of 1, 2, 3 to 4, 5 to 8 … calls, up to 2^14 and more.
const classes = 15;
// Runs are looked at sixteen at a time, by their median: a pause of the collector in one of them is no news.
const blockRuns = 16;
// As fast as in a worker, nearly: compiled there as here.
const warmBelow = 1.25;
// As slow as the worker was when it had run as often, nearly: it is only cold.
const coldBelow = 1.5;
// Compilers take their time: `map`, `filter` and `reduce` over 1000 elements took 20 us at first, and 6 after some 2500 runs,
// in the worker as on the caller's thread. What is slow after so many runs, or so much time, is slow.
const runsMax = 4096;
const usMax = 100_000;
// What the worker's first runs do not excuse is not waited for longer than this.
const inexcusableMax = 256;
// Four buckets an octave from 4 us to 2^31 us, one a microsecond below: a bound is a quarter too high at most. With whole
// octaves it was twice as high, and what was never tried inline, which has to fit in twice, was not tried from a quarter of
// the budget on.
const bucketsAnOctave = 4;
const buckets = bucketsAnOctave * 30;
// Old samples lose a quarter of their weight every 64 new ones. 256 are held so, enough for a quantile of 0.99, and a task
// that became short is believed after 1024 runs (0.75^16 is a hundredth).
const ageEvery = 64;
const keep = 3 / 4;
const upperShare = 0.99;
// The mean follows within about so many samples (as the pool's own estimate of a task does).
const meanWindow = 32;
// A sample counts for at most this many times the mean (or this many microseconds, where the mean is smaller): one pause
// of the collector in a thousand runs of a microsecond would double their mean.
const clip = 8;
// A run over the limit is held against a task until so many within it have followed. A task that is long once in twenty
// calls is never trusted so (that 256 are short by chance: 2 in a million), and a pause of the machine's is forgotten.
const pardonAfter = 256;
// What the very first run had to do (read a table, compile) the first run on another thread has to do as well.
const pardonFirstAfter = 1000;

interface Price {
  us: number;
  periods: number;
}

/** What the way to a worker and back costs a call, in microseconds, by the size of its burst. A pure value. */
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

  /** Per call in a burst of this size; of the nearest size where this one was not seen; undefined where none was. */
  us(burst: number): number | undefined {
    const at = burstClass(burst);
    for (let away = 0; away < classes; away++) {
      // A larger burst first: its calls are cheaper, and too low a price keeps a call in the worker, where it is safe.
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

/** Bursts of one class are of one price. */
export function burstClass(burst: number): number {
  return Math.min(classes - 1, 32 - Math.clz32(Math.max(0, burst - 1)));
}

/**
 * Keeps the first runs on a thread from being taken for the task's price there: code that was not compiled yet runs many
 * times slower. How long that takes is read off the worker, which has been through it. A pure value.
 */
export class JitWarmup {
  /** The worker's mean in its run 1, 2 to 3, 4 to 7 … */
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

  /** A run in a worker took so long. */
  ran(us: number): void {
    if (this.#over || this.#workerRuns > runsMax * 8) return;
    const octave = 31 - Math.clz32(++this.#workerRuns);
    const within = this.#workerRuns - 2 ** octave + 1;
    const before = this.#curve[octave] ?? 0;
    this.#curve[octave] = before + (us - before) / within;
  }

  /** A run inline took so long. In one of `workers` workers, which are warm, it takes `runUs` now. */
  ranInline(us: number, runUs: number, workers: number): void {
    this.#runs++;
    this.#us += us;
    this.#block.push(us);
    if (this.#block.length < blockRuns) return;
    const medianUs = this.#block.sort((a, b) => a - b)[blockRuns / 2]!;
    this.#block = [];
    // As old as this thread is now, so old was each worker when all of them had run so often.
    const octave = 31 - Math.clz32(this.#runs * workers);
    if (medianUs > Math.max(1, this.#curve[octave] ?? 0) * coldBelow) this.#inexcusable += blockRuns;
    const warm = medianUs <= Math.max(1, runUs) * warmBelow;
    this.#over = warm || this.#inexcusable >= inexcusableMax || this.#runs >= runsMax || this.#us >= usMax;
  }
}

/**
 * What runs have cost, in microseconds: a mean that one slow run does not carry away, an upper bound, and whether any
 * of late exceeded the limit. A pure value; allocates 960 bytes once.
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
    // Between two looks it only grows: too high a bound costs a hop, too low a one a stall.
    else if (topOf(bucket) > this.#upperUs) this.#upperUs = this.#quantile();
  }

  /** So many runs took `us` each, on average. Says nothing of the longest of them. */
  learnMean(us: number, runs: number): void {
    this.#meanUs += (us - this.#meanUs) * (runs / (runs + meanWindow));
  }

  /** Starts the mean at a value that was learnt elsewhere. */
  expect(us: number): void {
    this.#meanUs = us;
    this.#expecting = true;
  }

  /** How many runs were added in all. */
  get count(): number {
    return this.#count;
  }

  get meanUs(): number {
    return this.#meanUs;
  }

  /** What 99 of 100 recent runs stayed under, a quarter too high at most. 0 while nothing is known. */
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
    // With few samples one is more than a hundredth of them: the bound is then their maximum.
    for (; at > 0; at--) {
      above -= this.#weights[at]!;
      if (above < 0) break;
    }
    return topOf(at);
  }
}

/** Below 4 us the whole microseconds; above, the quarter of an octave. */
function bucketOf(us: number): number {
  const whole = Math.min(us, 2 ** 31 - 1) | 0;
  if (whole < bucketsAnOctave) return whole;
  const octave = 29 - Math.clz32(whole);
  return octave * bucketsAnOctave + (whole >>> octave);
}

/** What everything in a bucket is less than. */
function topOf(bucket: number): number {
  if (bucket < bucketsAnOctave) return bucket + 1;
  const octave = Math.floor(bucket / bucketsAnOctave) - 1;
  return ((bucket % bucketsAnOctave) + bucketsAnOctave + 1) * 2 ** octave;
}
