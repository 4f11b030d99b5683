// SPDX-License-Identifier: MIT OR Apache-2.0
import { burstClass, Cost, Hop, JitWarmup } from "./cost.js";

// To inline at 0.88 of the worker's price, back at 1.1 of it: whichever is better, staying in the other costs 14 % at most.
const enterBelow = 0.88;
const leaveAbove = 1.1;
// So many bursts in a row must speak for the other place.
const streakNeeded = 3;
// The share of the time that trying the other place may cost.
const exploreShare = 0.01;
// A try of a worker, while inline, at most every so many bursts; one of inline runs at most every so many calls.
const burstsBetween = 16;
const callsBetween = 256;
// The clock of a worker is read in whole microseconds.
const resolutionUs = 0.5;
// One run moves it by an eighth, unless it is told that more stands behind it, and counts for at most four times what is
// believed: a pause in one run is no news.
const oneRun = 1 / 8;
const clip = 4;
// One call inline among many in a worker finds its code and its data out of the caches: 30 us for a run of 6. So a trial
// is a row of calls, of which the first warm the place up and the others' median counts.
const warmUpCalls = 8;
const countedCalls = 16;
// A task's run in the worker must have been seen this often before anything of it runs inline.
const runsNeeded = 16;
// So many runs after the cold ones are set against the worker's.
const warmRuns = 16;
// What was never tried inline may take longer there: its code is cold to this thread, and arguments are copied on it.
const untried = 2;
// What runs under the grant of another kind of call is decided and measured by itself after so many leases.
const joinsMax = 4;

/**
 * Where calls of one kind, in bursts of one size, go: sticky, so that two prices that are nearly equal do not make them go
 * to and fro. A pure value.
 */
export class Choice {
  inline = false;
  #streak = 0;
  #purseUs = 0;
  #since = 0;

  /** Looks again, once a burst. Returns whether it changed its mind. */
  look(inlineUs: number, workerUs: number): boolean {
    const other = this.inline ? inlineUs > workerUs * leaveAbove : inlineUs < workerUs * enterBelow;
    this.#streak = other ? this.#streak + 1 : 0;
    if (this.#streak < streakNeeded) return false;
    this.inline = !this.inline;
    this.#streak = this.#since = this.#purseUs = 0;
    return true;
  }

  /** A call is placed: saves for a try of the other place, and says at a burst's first call whether its price is saved. */
  save(ownUs: number, tryUs: number, firstOfBurst: boolean): boolean {
    this.#purseUs += ownUs * exploreShare;
    if (!this.inline || firstOfBurst) this.#since++;
    if (!firstOfBurst || this.#purseUs < tryUs || this.#since < (this.inline ? burstsBetween : callsBetween))
      return false;
    this.#since = this.#purseUs = 0;
    return true;
  }

  /** Calls of so many bursts took so long inline, and were not placed one by one: saves for a try of a worker. */
  credit(ownUs: number, bursts: number): void {
    this.#purseUs += ownUs * exploreShare;
    this.#since += bursts;
  }

  /** The last run inline was a mistake. */
  leave(): void {
    this.inline = false;
    this.#streak = this.#since = this.#purseUs = 0;
  }
}

/**
 * How long a run takes on the caller's thread, with its copies, for each microsecond in a worker. Kept apart from the
 * two costs, because only one of them is fresh at a time and their quotient drifts least. A pure value.
 */
export class Ratio {
  #value = 1;
  #known = false;

  get value(): number {
    return this.#value;
  }

  /** Whether it was measured. */
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

/** How many calls a trial takes. */
export const trialCalls = warmUpCalls + countedCalls;

/** A row of runs inline, to learn what they cost now. A pure value. */
export class Trial {
  #us: number[] = [];

  get underWay(): boolean {
    return this.#us.length > 0;
  }

  /** A run took so long. Returns what a run takes, when enough have run. */
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

/** A call's place. `tried`: inline, to learn what that costs now. */
export type Place = "worker" | "inline" | "tried";

/** Runs inline that were not measured one by one: in so many bursts, of `burst` calls each or nearly so. */
export interface Together {
  readonly runs: number;
  readonly us: number;
  readonly burst: number;
  readonly bursts: number;
}

/**
 * What is known of a task for arguments of one class, and where it should run: inline only where that is cheaper than the
 * hop, and short without doubt. A pure value; knows neither clock nor thread. All times in microseconds.
 */
export class CallProfile {
  /** The task's runs in workers. */
  readonly run: Cost;
  /** Its runs on the caller's thread since it was last chosen for that, the copying of arguments and results included. */
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

  /** A period is over in which its calls went to workers, in bursts of this size at most. */
  learnHop(burst: number, us: number): void {
    this.hop.learn(burst, us);
  }

  /** A run in a worker is over. */
  ran(us: number): void {
    this.run.add(us);
    this.#warmup.ran(us);
    // While its calls run inline, a worker's run is a try: the work is the same, and what differs is the place.
    // Until enough runs inline are set against the worker's they are kept: bursts that exceed the budget end in workers, and
    // what a few of their runs told would be thrown away with each.
    if (!this.#inlineIsFresh || !this.#ratio.known) return;
    this.#ratio.learn(this.inline.meanUs, us);
    if (++this.#runsSince >= runsNeeded) this.#stale();
  }

  /** A run on the caller's thread is over, within the budget. */
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
   * Runs on the caller's thread were measured together, of `kinds` kinds, this one among them. What a whole burst costs is
   * known from these: the run that is measured by itself is mostly a burst's first, which meets cold caches (2 us for 0.1).
   */
  ranTogether({ runs, us, burst, bursts }: Together, kinds: number): void {
    if (this.#warmup.over && this.#inlineIsFresh) this.inline.learnMean(us / runs, runs);
    this.#choices[burstClass(burst)]?.credit(us / kinds, bursts);
  }

  /** One was over the budget: what was learnt of inline runs was wrong. */
  overran(): void {
    this.inline = new Cost(this.#limitUs);
    this.#ratio.forget();
    this.#trial.stop();
    this.#inlineIsFresh = false;
    for (const choice of this.#choices) choice?.leave();
  }

  /** What a run in a worker is expected to take. */
  get runUs(): number {
    return this.#inlineIsFresh && this.#ratio.known ? this.#ratio.runOf(this.inline.meanUs) : this.run.meanUs;
  }

  /** What a run inline is expected to take; the worker's figure while it was never measured. */
  get inlineUs(): number {
    return this.#inlineIsFresh && this.#ratio.known ? this.inline.meanUs : this.#ratio.inlineOf(this.run.meanUs);
  }

  /** Whether runs inline were measured, rather than inferred. */
  get measured(): boolean {
    return this.#ratio.known;
  }

  /** What a run inline is not expected to exceed: before it was measured of late, as much more than a worker's as it was. */
  get upperUs(): number {
    if (this.inline.count >= warmRuns) return this.inline.upperUs;
    return this.run.upperUs * (this.#ratio.known ? Math.max(1, this.#ratio.value) : untried);
  }

  /** What a burst is expected to take when all of it goes to `workers` workers; undefined while unknown. */
  workerUs(burst: number, workers: number): number | undefined {
    const hopUs = this.hop.us(burst);
    return hopUs === undefined ? undefined : burst * hopUs + rounds(burst, workers) * this.runUs;
  }

  /** What a burst is expected to take when as much of it runs inline as the budget allows, and the rest goes to workers. */
  #withinUs(burst: number, workers: number): number {
    const { inlineUs } = this;
    const fit = Math.min(burst, 1 + Math.floor((this.#limitUs - this.upperUs) / inlineUs));
    return fit * inlineUs + (fit === burst ? 0 : (this.workerUs(burst - fit, workers) ?? 0));
  }

  /** Whether it may run inline at all: measured in workers often enough, and short each time. */
  get safe(): boolean {
    return this.run.count >= runsNeeded && this.run.withinLimit && this.upperUs <= this.#limitUs;
  }

  /** Where a call in a burst of this size should run. Its caller still has to see that `upperUs` is left of the turn. */
  choose(burst: number, burstId: number, workers: number): Place {
    if (!this.safe) return "worker";
    this.#workers = workers;
    const workerUs = this.workerUs(burst, workers);
    if (workerUs === undefined) return "worker";
    const at = burstClass(burst);
    this.#choices[at] ??= new Choice();
    const choice = this.#choices[at];
    // A burst that grows beyond what was expected is looked at again as what it has become.
    const first = this.#lookedIn !== burstId || this.#lookedAt !== at;
    let inlineUs = 0;
    if (first) {
      this.#lookedIn = burstId;
      this.#lookedAt = at;
      inlineUs = this.#withinUs(burst, workers);
      if (choice.look(inlineUs, workerUs)) this.#changed(choice);
    }
    if (choice.inline) {
      // A worker is tried with a whole burst, or its price would be that of another.
      if (choice.save(this.inlineUs, Math.max(0, workerUs - inlineUs), first)) this.#workerTriedIn = burstId;
      return this.#workerTriedIn === burstId ? "worker" : "inline";
    }
    if (this.#trial.underWay) return "tried";
    // What is believed of inline runs may be wrong, and then is too high; the trial's price must not be.
    const trialUs = Math.min(this.inlineUs, 2 * this.runUs) * trialCalls;
    return choice.save(workerUs / burst, trialUs, first) ? "tried" : "worker";
  }

  /** Calls of this burst ran before: a try of a worker, which takes a whole one, does not begin with what is left of it. */
  looked(burst: number, burstId: number): void {
    this.#lookedIn = burstId;
    this.#lookedAt = burstClass(burst);
  }

  /**
   * Whether calls may run inline beside others, measured together with them: it would run there by choice, and was not let
   * join too often since one of its calls was decided and measured by itself. Looks at no prices.
   */
  joins(burst: number, burstId: number): boolean {
    if (!this.#choices[burstClass(burst)]?.inline || this.#workerTriedIn === burstId) return false;
    return ++this.#joined <= joinsMax;
  }

  // Each side begins with what the other has learnt meanwhile.
  #changed(choice: Choice): void {
    if (!choice.inline) {
      this.run.expect(this.runUs);
      this.#stale();
    } else if (!this.#choices.some((each) => each?.inline && each !== choice)) {
      this.#stale();
    }
  }

  // What ran inline is too long ago to bound anything: from now on the worker's runs tell.
  #stale(): void {
    const expectedUs = this.inlineUs;
    this.inline = new Cost(this.#limitUs);
    this.inline.expect(expectedUs);
    this.#inlineIsFresh = false;
  }
}

/** How many runs one of so many workers does of a burst, one after the other: of three calls, one of two workers does two. */
export function rounds(calls: number, workers: number): number {
  return Math.ceil(calls / Math.max(1, workers));
}
