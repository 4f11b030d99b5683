// SPDX-License-Identifier: MIT OR Apache-2.0
import { burstClass, Cost, Hop, JitWarmup } from "./cost.js";

// Calls change to inline below 0.88 of the worker's price, and back above 1.1 of it. In between, the worse place costs at most 14 % more.
const enterBelow = 0.88;
const leaveAbove = 1.1;
// Bursts in a row for which the other place is cheaper, before a change.
const streakNeeded = 3;
// Share of the time that trials of the other place may cost.
const exploreShare = 0.01;
// While calls run inline, bursts between two trials of a worker. While they run in workers, calls between two inline trials.
const burstsBetween = 16;
const callsBetween = 256;
// Workers measure in whole microseconds.
const resolutionUs = 0.5;
// Weight of one run, unless the caller passes another one. A sample counts for at most four times the current ratio, because a pause in one
// run says nothing about the task.
const oneRun = 1 / 8;
const clip = 4;
// A single inline call among many in workers runs with cold caches: 30 us instead of 6. A trial is therefore a series of calls. The first
// ones warm the caches, and the median of the others counts.
const warmUpCalls = 8;
const countedCalls = 16;
// Runs in workers before the first inline run of a task.
const runsNeeded = 16;
// Inline runs after the JIT warm-up that are compared with the worker's runs.
const warmRuns = 16;
// A task that never ran inline may take longer there than in a worker: its code is cold on this thread, which also copies the arguments.
const untried = 2;
// A class of calls may join the grant of another class this often. Then one of its calls is decided and measured by itself.
const joinsMax = 4;

/**
 * Remembers where calls of one class, in bursts of one size, run. Changes late, so that nearly equal prices do not make calls alternate. A
 * pure value.
 */
export class Choice {
  inline = false;
  #streak = 0;
  #purseUs = 0;
  #since = 0;

  /** Compares the prices, once per burst. Returns whether the choice changed. */
  look(inlineUs: number, workerUs: number): boolean {
    const other = this.inline ? inlineUs > workerUs * leaveAbove : inlineUs < workerUs * enterBelow;
    this.#streak = other ? this.#streak + 1 : 0;
    if (this.#streak < streakNeeded) return false;
    this.inline = !this.inline;
    this.#streak = this.#since = this.#purseUs = 0;
    return true;
  }

  /** Saves time for a trial of the other place, once per call. Returns true at a burst's first call if the trial's price is saved. */
  save(ownUs: number, tryUs: number, firstOfBurst: boolean): boolean {
    this.#purseUs += ownUs * exploreShare;
    if (!this.inline || firstOfBurst) this.#since++;
    if (!firstOfBurst || this.#purseUs < tryUs || this.#since < (this.inline ? burstsBetween : callsBetween))
      return false;
    this.#since = this.#purseUs = 0;
    return true;
  }

  /** Saves time for a trial of a worker, for `bursts` bursts whose calls took `ownUs` inline and were not placed one by one. */
  credit(ownUs: number, bursts: number): void {
    this.#purseUs += ownUs * exploreShare;
    this.#since += bursts;
  }

  /** An inline run was over the budget: calls go to workers. */
  leave(): void {
    this.inline = false;
    this.#streak = this.#since = this.#purseUs = 0;
  }
}

/**
 * Run time on the caller's thread, with its copies, divided by the run time in a worker. Kept apart from the two costs, because only one of
 * them is fresh at a time, and the ratio drifts least. A pure value.
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

/** A series of inline runs that measures what they cost now. A pure value. */
export class Trial {
  #us: number[] = [];

  get underWay(): boolean {
    return this.#us.length > 0;
  }

  /** Adds a run. Returns the time of one run, in microseconds, once the trial is complete. */
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

/** Where a call runs. `tried`: inline, as part of a trial. */
export type Place = "worker" | "inline" | "tried";

/** Inline runs that were measured together: `runs` calls in `bursts` bursts of about `burst` calls each. */
export interface Together {
  readonly runs: number;
  readonly us: number;
  readonly burst: number;
  readonly bursts: number;
}

/**
 * The measured costs of a task for arguments of one class, and the choice where to run it: inline only if that is cheaper than the hop and
 * surely short. A pure value, without a clock or a thread. All times in microseconds.
 */
export class CallProfile {
  /** Runs in workers. */
  readonly run: Cost;
  /** Runs on the caller's thread since inline was last chosen, including the copies of arguments and results. */
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
  #lookedIn = -1;
  #lookedAt = -1;
  #workerTriedIn = -1;
  #joined = 0;

  constructor(limitUs: number) {
    this.#limitUs = limitUs;
    this.run = new Cost(limitUs);
    this.inline = new Cost(limitUs);
  }

  /** Adds the price of a hop, from a period whose largest burst had `burst` calls. */
  learnHop(burst: number, us: number): void {
    this.hop.learn(burst, us);
  }

  /** Adds a run in a worker. */
  ran(us: number): void {
    this.run.add(us);
    this.#warmup.ran(us);
    // While calls run inline, a run in a worker is a trial. Before the ratio is known, the inline runs are kept: bursts over the budget end
    // in workers, and each would discard the few inline runs so far.
    if (!this.#inlineIsFresh || !this.#ratio.known) return;
    this.#ratio.learn(this.inline.meanUs, us);
    if (++this.#runsSince >= runsNeeded) this.#stale();
  }

  /** Adds a run on the caller's thread that was within the budget. */
  ranInline(us: number, place: Place): void {
    this.#joined = 0;
    if (!this.#warmup.over) this.#warmup.ranInline(us, this.run.meanUs, this.#workers);
    if (place === "tried") {
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
   * Adds runs on the caller's thread that were measured together, of `kinds` classes including this one. They give the cost of a whole
   * burst. A run that is measured by itself is usually a burst's first, with cold caches (2 us instead of 0.1).
   */
  ranTogether({ runs, us, burst, bursts }: Together, kinds: number): void {
    if (this.#warmup.over && this.#inlineIsFresh) this.inline.learnMean(us / runs, runs);
    this.#choices[burstClass(burst)]?.credit(us / kinds, bursts);
  }

  /** An inline run was over the budget: forgets all inline measurements. */
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

  /** Expected time of an inline run. Without a measurement, the worker's time. */
  get inlineUs(): number {
    return this.#inlineIsFresh && this.#ratio.known ? this.inline.meanUs : this.#ratio.inlineOf(this.run.meanUs);
  }

  /** Whether inline runs were measured. */
  get measured(): boolean {
    return this.#ratio.known;
  }

  /** Upper bound for an inline run. Without a recent measurement, it scales the worker's bound by the last inline/worker ratio. */
  get upperUs(): number {
    if (this.inline.count >= warmRuns) return this.inline.upperUs;
    return this.run.upperUs * (this.#ratio.known ? Math.max(1, this.#ratio.value) : untried);
  }

  /** Expected time of a burst in `workers` workers. Undefined while the hop's price is unknown. */
  workerUs(burst: number, workers: number): number | undefined {
    const hopUs = this.hop.us(burst);
    return hopUs === undefined ? undefined : burst * hopUs + rounds(burst, workers) * this.runUs;
  }

  /** Expected time of a burst of which as many calls run inline as the budget allows, and the others in workers. */
  #withinUs(burst: number, workers: number): number {
    const { inlineUs } = this;
    const fit = Math.min(burst, 1 + Math.floor((this.#limitUs - this.upperUs) / inlineUs));
    return fit * inlineUs + (fit === burst ? 0 : (this.workerUs(burst - fit, workers) ?? 0));
  }

  /** Whether calls may run inline: measured in workers often enough, and always short. */
  get safe(): boolean {
    return this.run.count >= runsNeeded && this.run.withinLimit && this.upperUs <= this.#limitUs;
  }

  /** Chooses where a call in a burst of this size runs. The caller must still check that `upperUs` is left of the turn. */
  choose(burst: number, burstId: number, workers: number): Place {
    if (!this.safe) return "worker";
    this.#workers = workers;
    const workerUs = this.workerUs(burst, workers);
    if (workerUs === undefined) return "worker";
    const at = burstClass(burst);
    this.#choices[at] ??= new Choice();
    const choice = this.#choices[at];
    // A burst that becomes larger than expected is decided again, for its new size.
    const first = this.#lookedIn !== burstId || this.#lookedAt !== at;
    let inlineUs = 0;
    if (first) {
      this.#lookedIn = burstId;
      this.#lookedAt = at;
      inlineUs = this.#withinUs(burst, workers);
      if (choice.look(inlineUs, workerUs)) this.#changed(choice);
    }
    if (choice.inline) {
      // A trial of a worker takes a whole burst, because the price of a hop depends on the burst's size.
      if (choice.save(this.inlineUs, Math.max(0, workerUs - inlineUs), first)) this.#workerTriedIn = burstId;
      return this.#workerTriedIn === burstId ? "worker" : "inline";
    }
    if (this.#trial.underWay) return "tried";
    // The expected inline time may be wrong, and is then too high. The price of the trial is therefore limited.
    const trialUs = Math.min(this.inlineUs, 2 * this.runUs) * trialCalls;
    return choice.save(workerUs / burst, trialUs, first) ? "tried" : "worker";
  }

  /** Calls of this burst ran before. A trial of a worker needs a whole burst, so none begins in this one. */
  looked(burst: number, burstId: number): void {
    this.#lookedIn = burstId;
    this.#lookedAt = burstClass(burst);
  }

  /**
   * Whether calls may run under the grant of another class, measured together with its calls. They may if inline is chosen for them, and
   * they did not join too often since one of them was measured by itself. Compares no prices.
   */
  joins(burst: number, burstId: number): boolean {
    if (!this.#choices[burstClass(burst)]?.inline || this.#workerTriedIn === burstId) return false;
    return ++this.#joined <= joinsMax;
  }

  // The side that was not used starts with the expectation of the other.
  #changed(choice: Choice): void {
    if (!choice.inline) {
      this.run.expect(this.runUs);
      this.#stale();
    } else if (!this.#choices.some((each) => each?.inline && each !== choice)) {
      this.#stale();
    }
  }

  // The inline runs are too old for a bound. From now on the bound comes from the worker's runs.
  #stale(): void {
    const expectedUs = this.inlineUs;
    this.inline = new Cost(this.#limitUs);
    this.inline.expect(expectedUs);
    this.#inlineIsFresh = false;
  }
}

/** Returns how many calls of a burst the busiest worker runs, one after the other. With two workers, three calls take two rounds. */
export function rounds(calls: number, workers: number): number {
  return Math.ceil(calls / Math.max(1, workers));
}
