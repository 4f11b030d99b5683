// SPDX-License-Identifier: MIT OR Apache-2.0

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
