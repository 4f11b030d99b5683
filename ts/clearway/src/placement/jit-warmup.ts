// SPDX-License-Identifier: MIT OR Apache-2.0

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
