// SPDX-License-Identifier: MIT OR Apache-2.0
import { burstClass, Cost, Hop, JitWarmup } from "./cost.js";

// Calls move to the caller's thread if the inline price is below 0.88 of the worker's price. Calls move back to workers if the inline price
// is above 1.1 of the worker's price. Between these limits, the worse place costs at most 14 % more.
const enterBelow = 0.88;
const leaveAbove = 1.1;
// Number of consecutive bursts for which the other place must be cheaper before the choice changes.
const streakNeeded = 3;
// Share of the run time that trials of the other place may cost.
const exploreShare = 0.01;
// Minimum distance between two trials: 16 bursts between trials of a worker, which take place while calls run inline. 256 calls between
// inline trials, which take place while calls run in workers.
const burstsBetween = 16;
const callsBetween = 256;
// Lowest run time that is used in a ratio. Workers report whole microseconds, so a reported 0 stands for up to this time.
const resolutionUs = 0.5;
// Weight of one run in the ratio, unless the caller passes another weight. A sample counts as at least a quarter of the current ratio, and
// as at most four times the current ratio. A pause during one run says nothing about the task.
const oneRun = 1 / 8;
const clip = 4;
// A trial is a series of inline calls. A single inline call among many in workers runs with cold caches and takes 30 us instead of 6. The
// first calls of a trial warm the caches. The result of a trial is the median time of the other calls.
const warmUpCalls = 8;
const countedCalls = 16;
// Number of runs in workers that a task needs before its first inline run.
const runsNeeded = 16;
// Number of inline runs after the JIT warm-up whose mean is compared with the worker's.
const warmRuns = 16;
// Factor on the worker's bound for a task that never ran inline. Such a task may take longer inline, because its code is cold on this
// thread, and because this thread also copies the arguments.
const untriedFactor = 2;
// Maximum number of times in a row that a class of arguments may join the grant of another class (`inline-grant.ts`). After that, a call of
// the class is decided and measured by itself.
const joinsMax = 4;

/**
 * Remembers whether calls of one class, in bursts of one size, run inline. Changes this choice late, so that calls do not alternate between
 * two places with nearly equal prices. Reads no clock and starts no thread.
 */
export class Choice {
  inline = false;
  #streak = 0;
  #trialSavingsUs = 0;
  #since = 0;

  /** Compares the prices. Called once per burst. Returns whether the choice changed. */
  compare(inlineUs: number, workerUs: number): boolean {
    const other = this.inline ? inlineUs > workerUs * leaveAbove : inlineUs < workerUs * enterBelow;
    this.#streak = other ? this.#streak + 1 : 0;
    if (this.#streak < streakNeeded) return false;
    this.inline = !this.inline;
    this.#streak = this.#since = this.#trialSavingsUs = 0;
    return true;
  }

  /**
   * Adds a share of a call's time to the savings for a trial of the other place. Called once per call. Returns true at the first call of a
   * burst if a trial is due: the savings cover its price, and enough bursts or calls have passed since the last one.
   */
  save(ownUs: number, tryUs: number, firstOfBurst: boolean): boolean {
    this.#trialSavingsUs += ownUs * exploreShare;
    if (!this.inline || firstOfBurst) this.#since++;
    if (!firstOfBurst || this.#trialSavingsUs < tryUs || this.#since < (this.inline ? burstsBetween : callsBetween))
      return false;
    this.#since = this.#trialSavingsUs = 0;
    return true;
  }

  /**
   * Adds to the savings for a trial of a worker, for `bursts` bursts that ran under a grant. The calls of these bursts took `ownUs`
   * microseconds inline.
   */
  saveBatch(ownUs: number, bursts: number): void {
    this.#trialSavingsUs += ownUs * exploreShare;
    this.#since += bursts;
  }

  /** Changes the choice to workers, after an inline run exceeded the budget. */
  leave(): void {
    this.inline = false;
    this.#streak = this.#since = this.#trialSavingsUs = 0;
  }
}

/**
 * Ratio of the run time on the caller's thread, including copies, to the run time in a worker. The ratio is kept in addition to the two run
 * times. Only one of these is recent at any time, and the ratio changes less over time than either of them.
 */
export class Ratio {
  #value = 1;
  #known = false;

  get value(): number {
    return this.#value;
  }

  /** Whether the ratio was measured. */
  get known(): boolean {
    return this.#known;
  }

  learn(inlineUs: number, runUs: number, weight = oneRun): void {
    const sample = inlineUs / Math.max(runUs, resolutionUs);
    if (!this.#known) {
      this.#known = true;
      this.#value = sample;
      return;
    }
    const clipped = Math.min(Math.max(sample, this.#value / clip), this.#value * clip);
    this.#value += (clipped - this.#value) * weight;
  }

  inlineOf(runUs: number): number {
    return Math.max(runUs, resolutionUs) * this.#value;
  }

  runOf(inlineUs: number): number {
    return inlineUs / this.#value;
  }

  forget(): void {
    this.#value = 1;
    this.#known = false;
  }
}

/** Number of calls in a trial. */
export const trialCalls = warmUpCalls + countedCalls;

/** A series of inline runs that measures the current cost of an inline run. Reads no clock and starts no thread. */
export class Trial {
  #us: number[] = [];

  get underWay(): boolean {
    return this.#us.length > 0;
  }

  /** Adds a run. Returns the median time of a run in microseconds once the trial is complete, and undefined before. */
  add(us: number): number | undefined {
    this.#us.push(us);
    if (this.#us.length < trialCalls) return undefined;
    const counted = this.#us.slice(warmUpCalls).sort((a, b) => a - b);
    this.#us = [];
    return counted[countedCalls / 2];
  }

  stop(): void {
    this.#us = [];
  }
}

/** Where a call runs. `trial` means inline, as part of a trial. */
export type Place = "worker" | "inline" | "trial";

/**
 * A batch: inline runs that were measured together. The batch has `runs` calls in `bursts` bursts of about `burst` calls each. All calls
 * together took `us` microseconds.
 */
export interface BatchRuns {
  readonly runs: number;
  readonly us: number;
  readonly burst: number;
  readonly bursts: number;
}

/**
 * The measured costs of a task for one class of arguments, and the choice where such calls run. A call runs inline only if that is cheaper
 * than the hop to a worker and certainly short.
 *
 * Reads no clock and starts no thread. All times are in microseconds. `traffic.ts` defines bursts, periods and hops. `model.ts` defines the
 * class of arguments.
 */
export class CallProfile {
  /** The cost of runs in workers. */
  readonly run: Cost;
  /** The cost of runs on the caller's thread since inline was last chosen, including the copies of arguments and results. */
  inline: Cost;
  readonly hop = new Hop();
  readonly #limitUs: number;
  readonly #ratio = new Ratio();
  readonly #choices: (Choice | undefined)[] = [];
  readonly #warmup = new JitWarmup();
  readonly #trial = new Trial();
  #inlineIsFresh = false;
  #runsSince = 0;
  #workers = 1;
  #comparedBurstId = -1;
  #comparedClass = -1;
  #workerTrialBurstId = -1;
  #joined = 0;

  constructor(limitUs: number) {
    this.#limitUs = limitUs;
    this.run = new Cost(limitUs);
    this.inline = new Cost(limitUs);
  }

  /** Adds a measured price of a hop, from a period whose largest burst had `burst` calls. */
  learnHop(burst: number, us: number): void {
    this.hop.learn(burst, us);
  }

  /** Adds a run in a worker. */
  ran(us: number): void {
    this.run.add(us);
    this.#warmup.ran(us);
    // While calls run inline, a run in a worker is a trial and updates the ratio. Without a known ratio, this run must not make the inline
    // runs stale. The last calls of a burst over the budget run in workers, and each of them would otherwise discard the few inline runs so
    // far.
    if (!this.#inlineIsFresh || !this.#ratio.known) return;
    this.#ratio.learn(this.inline.meanUs, us);
    if (++this.#runsSince >= runsNeeded) this.#stale();
  }

  /** Adds a run on the caller's thread that was within the budget. */
  ranInline(us: number, place: Place): void {
    this.#joined = 0;
    if (!this.#warmup.over) this.#warmup.ranInline(us, this.run.meanUs, this.#workers);
    if (place === "trial") {
      const trialUs = this.#trial.add(us);
      if (trialUs !== undefined) this.#ratio.learn(trialUs, this.run.meanUs, 1 / 2);
      return;
    }
    if (!this.#warmup.over) return;
    this.inline.add(us);
    this.#inlineIsFresh = true;
    this.#runsSince = 0;
    if (this.inline.count === warmRuns && !this.#ratio.known) this.#ratio.learn(this.inline.meanUs, this.run.meanUs);
  }

  /**
   * Adds a batch of runs on the caller's thread. The runs belong to `kinds` classes, and this class is one of them. Such a
   * measurement gives the cost of a whole burst. A run that is measured by itself is usually the first of its burst and has cold caches (2
   * us instead of 0.1).
   */
  addBatch({ runs, us, burst, bursts }: BatchRuns, kinds: number): void {
    if (this.#warmup.over && this.#inlineIsFresh) this.inline.learnMean(us / runs, runs);
    this.#choices[burstClass(burst)]?.saveBatch(us / kinds, bursts);
  }

  /** Forgets all inline measurements, after an inline run exceeded the budget. */
  overran(): void {
    this.inline = new Cost(this.#limitUs);
    this.#ratio.forget();
    this.#trial.stop();
    this.#inlineIsFresh = false;
    for (const choice of this.#choices) choice?.leave();
  }

  /** Expected time of a run in a worker. */
  get runUs(): number {
    return this.#inlineIsFresh && this.#ratio.known ? this.#ratio.runOf(this.inline.meanUs) : this.run.meanUs;
  }

  /** Expected time of an inline run. Without an inline measurement, this is the worker's time. */
  get inlineUs(): number {
    return this.#inlineIsFresh && this.#ratio.known ? this.inline.meanUs : this.#ratio.inlineOf(this.run.meanUs);
  }

  /** Whether enough inline runs were measured for a ratio. */
  get measured(): boolean {
    return this.#ratio.known;
  }

  /** Upper bound for an inline run. Without a recent measurement, it scales the worker's bound by the last inline/worker ratio. */
  get upperUs(): number {
    if (this.inline.count >= warmRuns) return this.inline.upperUs;
    return this.run.upperUs * (this.#ratio.known ? Math.max(1, this.#ratio.value) : untriedFactor);
  }

  /** Expected time of a burst in `workers` workers. Undefined while the price of a hop is unknown. */
  workerUs(burst: number, workers: number): number | undefined {
    const hopUs = this.hop.us(burst);
    return hopUs === undefined ? undefined : burst * hopUs + rounds(burst, workers) * this.runUs;
  }

  /** Expected time of a burst that runs inline as far as the budget allows. The calls that do not fit run in workers. */
  #withinUs(burst: number, workers: number): number {
    const { inlineUs } = this;
    const fit = Math.min(burst, 1 + Math.floor((this.#limitUs - this.upperUs) / inlineUs));
    return fit * inlineUs + (fit === burst ? 0 : (this.workerUs(burst - fit, workers) ?? 0));
  }

  /**
   * Whether calls may run inline. There are three conditions: enough runs in workers were measured, no recent run exceeded the budget, and
   * the upper bound of an inline run is within the budget.
   */
  get safe(): boolean {
    return this.run.count >= runsNeeded && this.run.withinLimit && this.upperUs <= this.#limitUs;
  }

  /** Chooses where a call in a burst of this size runs. The caller must still check that the turn has `upperUs` left. */
  choose(burst: number, burstId: number, workers: number): Place {
    if (!this.safe) return "worker";
    this.#workers = workers;
    const workerUs = this.workerUs(burst, workers);
    if (workerUs === undefined) return "worker";
    const at = burstClass(burst);
    this.#choices[at] ??= new Choice();
    const choice = this.#choices[at];
    // Decides again when a burst becomes larger than expected, because prices depend on the size.
    const first = this.#comparedBurstId !== burstId || this.#comparedClass !== at;
    let inlineUs = 0;
    if (first) {
      this.#comparedBurstId = burstId;
      this.#comparedClass = at;
      inlineUs = this.#withinUs(burst, workers);
      if (choice.compare(inlineUs, workerUs)) this.#changed(choice);
    }
    if (choice.inline) {
      // A trial of a worker takes a whole burst, because the price of a hop depends on the size of the burst.
      if (choice.save(this.inlineUs, Math.max(0, workerUs - inlineUs), first)) this.#workerTrialBurstId = burstId;
      return this.#workerTrialBurstId === burstId ? "worker" : "inline";
    }
    if (this.#trial.underWay) return "trial";
    // Limits the price of the trial, because the expected inline time may be far too high. Without the limit, the trial that could correct
    // it might seem too expensive.
    const trialUs = Math.min(this.inlineUs, 2 * this.runUs) * trialCalls;
    return choice.save(workerUs / burst, trialUs, first) ? "trial" : "worker";
  }

  /** Records that calls of this burst already ran under a grant. A trial of a worker needs a whole burst, so none begins in this burst. */
  ranUnderGrant(burst: number, burstId: number): void {
    this.#comparedBurstId = burstId;
    this.#comparedClass = burstClass(burst);
  }

  /**
   * Returns whether a call may run under the grant of another class, measured together with that class's calls. The call may if inline is
   * chosen for its class, and if the class has not joined too often since one of its calls was measured by itself. Compares no prices.
   */
  joins(burst: number, burstId: number): boolean {
    if (!this.#choices[burstClass(burst)]?.inline || this.#workerTrialBurstId === burstId) return false;
    return ++this.#joined <= joinsMax;
  }

  // Updates the costs after the choice changed. The new place starts with the time that the other place's runs predict for it.
  #changed(choice: Choice): void {
    if (!choice.inline) {
      this.run.expect(this.runUs);
      this.#stale();
    } else if (!this.#choices.some((each) => each?.inline && each !== choice)) {
      this.#stale();
    }
  }

  // Discards the inline runs, because they are too old for a bound. The bound then comes from the worker's runs.
  #stale(): void {
    const expectedUs = this.inlineUs;
    this.inline = new Cost(this.#limitUs);
    this.inline.expect(expectedUs);
    this.#inlineIsFresh = false;
  }
}

/** Returns how many calls of a burst the busiest worker runs one after the other. With two workers, three calls take two rounds. */
export function rounds(calls: number, workers: number): number {
  return Math.ceil(calls / Math.max(1, workers));
}
