// SPDX-License-Identifier: MIT OR Apache-2.0
import type { TaskDefinition } from "../task/task.js";
import type { CallProfile } from "./call-profile.js";
import { burstClass } from "./cost.js";
import type { Model } from "./model.js";
import type { PlacedOptions, PlacedTask } from "./owner.js";

// Maximum mean time of a run under a grant, in microseconds. Without a grant, each call needs a decision and two readings of the clock (40
// ns each). For a run of a little arithmetic, that is most of the cost. Longer tasks gain nothing from a grant. The mean is compared and
// not the bound: a run that is measured by itself is usually the first of its burst and has cold caches.
const meanMaxUs = 8;
// Maximum number of calls between two readings of the clock. Even if the calls take four times their expected time, they use at most half
// of the time that is left of the turn. `caution` is the product of the factors 2 and 4.
const callsMax = 128;
const caution = 2 * 4;
// The first call of a burst has cold caches and takes up to this many times as long as the others. If the caches are not the reason, all
// calls may take as long as the first one. The calls then still end within half of the time that is left of the turn.
const coldFactor = 4;
// Lowest expected time of a call, in microseconds. A page's clock has steps of 5 us or more, so a measured mean may be 0.
const leastUs = 0.25;
// Maximum number of readings of the clock per burst, and maximum number of bursts per grant. At either limit, the next call is decided and
// measured by itself. Such a call reads all profiles of a task. Reading the profiles of eight classes with cold caches takes 50 us, while a
// whole burst under a grant takes 9 us.
const readingsMax = 8;
const burstsMax = 64;
// A grant ends if its runs take more than `tooSlowFactor` times their expected time, plus `coldUs` microseconds for cold caches. Something
// has changed then, and each call is decided again.
const tooSlowFactor = 4;
const coldUs = 8;

/**
 * Lets the next calls of one task run inline, without a decision and a measurement for each call. The time of the calls is measured
 * together, per burst and per 128 calls.
 *
 * A grant begins with the class of the call that was just measured. Other classes join one by one (numbers from 0 to 99 are in eight
 * classes). A grant rests between bursts, so it measures the caller's loop and no other code. Reads no clock and starts no thread. The
 * caller passes all times, in microseconds.
 *
 *   granted ── take, take, … ──┬── addTime ── renew ── take …   the next 128 calls
 *      │                       └── rest ── resume ── take …     the next burst
 *      └───────────────────────────────────────── end           another task; 64 bursts; much slower than expected
 */
export class InlineGrant {
  /** Number of calls that may still run before the clock is read again. */
  left = 0;
  /** Number of calls that ran since the clock was read. */
  used = 0;
  /** Time of the last reading of the clock. */
  fromUs = 0;
  resting = false;
  /** Whether the runs took much longer than expected. The grant then ends. */
  tooSlow = false;
  task: PlacedTask | undefined;
  definition: TaskDefinition | undefined;
  options: PlacedOptions | undefined;
  model: Model | undefined;
  readonly #profiles = new Map<number, CallProfile>();
  #kind = -1;
  #costUs = leastUs;
  #seenUs = 0;
  #leftUs = 0;
  #burst = 0;
  #bursts = 0;
  #readings = 0;
  #ran = 0;
  #ranUs = 0;

  /**
   * Grants further calls of a class, after a call that took `us` in a burst of `burst` calls. `leftUs` is the time that is left of the
   * turn. Extends the current grant if it is for the same task and options, otherwise begins a new one. Grants nothing if the runs are so
   * long that reading the clock adds little to their cost.
   */
  grant(
    task: PlacedTask,
    definition: TaskDefinition,
    options: PlacedOptions,
    model: Model,
    kind: number,
    profile: CallProfile,
    burst: number,
    us: number,
    nowUs: number,
    leftUs: number,
  ): void {
    if (task !== this.task || options !== this.options || !isShort(profile)) this.end();
    if (!isShort(profile)) return;
    if (this.task === undefined) {
      this.task = task;
      this.definition = definition;
      this.options = options;
      this.model = model;
      this.#bursts = 0;
      this.#costUs = leastUs;
    }
    this.#burst = burst;
    this.#seenUs = us;
    this.#readings = 0;
    this.#begin(nowUs, leftUs);
    this.#join(kind, profile);
  }

  /** Returns whether calls of this class run under the grant. */
  covers(kind: number): boolean {
    if (kind === this.#kind) return true;
    if (!this.#profiles.has(kind)) return false;
    this.#kind = kind;
    return true;
  }

  /**
   * Lets another class join if its inline runs were measured and are short, and if inline is chosen for it. Returns false if the call must
   * be decided and measured by itself.
   */
  widen(kind: number, burst: number, burstId: number): boolean {
    const profile = this.model?.profiles.get(kind);
    if (profile === undefined || !isShort(profile) || profile.upperUs > this.#leftUs / 2) return false;
    if (!profile.joins(burst, burstId)) return false;
    this.#join(kind, profile);
    return true;
  }

  /** Expected time of each call under the grant, in microseconds. */
  get costUs(): number {
    return this.#costUs;
  }

  /** Counts a call that ran. */
  take(): void {
    this.left--;
    this.used++;
  }

  /** Adds the time since the last reading of the clock. If this time is over the budget, all classes of the grant count as overrun. */
  addTime(nowUs: number, budgetUs: number, pausedUs = 0): void {
    const us = nowUs - this.fromUs;
    this.fromUs = nowUs;
    if (us > budgetUs) {
      this.model?.batchOverran(this.#profiles, us, pausedUs);
      this.tooSlow = true;
    } else {
      this.#ran += this.used;
      this.#ranUs += us;
      if (us > tooSlowFactor * (this.used * this.#costUs + coldUs)) this.tooSlow = true;
    }
    this.#seenUs = us / this.used;
    this.used = 0;
  }

  /** Continues in the same burst, with `leftUs` left of the turn. Returns false if the next call must be decided and measured by itself. */
  renew(burst: number, nowUs: number, leftUs: number): boolean {
    // Decides again when a burst becomes larger than expected, because prices depend on the size.
    if (this.tooSlow || burstClass(burst) !== burstClass(this.#burst)) {
      this.end();
      return false;
    }
    this.#begin(nowUs, leftUs);
    return ++this.#readings < readingsMax && this.left > 0;
  }

  /**
   * Pauses the grant after a burst of `burst` calls. Ends the grant instead if the size of the burst was not the expected one, because
   * other prices apply to that size.
   */
  rest(burst: number): void {
    if (this.task === undefined) return;
    if (burstClass(burst) !== burstClass(this.#burst)) return this.end();
    this.left = 0;
    this.resting = true;
  }

  /** Continues in the next burst. Allows one call before the next reading of the clock. Returns false if the grant ends. */
  resume(nowUs: number, leftUs: number): boolean {
    this.resting = false;
    this.#readings = 0;
    this.#begin(nowUs, leftUs);
    if (this.left > 1) this.left = 1;
    const lasts = ++this.#bursts < burstsMax && !this.tooSlow && this.left > 0;
    if (!lasts) this.end();
    return lasts;
  }

  /** Ends the grant and passes its measurements to the model. */
  end(): void {
    if (this.task === undefined) return;
    if (this.#ran > 0) {
      const ran = { runs: this.#ran, us: this.#ranUs, burst: this.#burst, bursts: this.#bursts };
      this.model?.addBatch(this.#profiles, ran);
    }
    this.left = this.used = this.#ran = this.#ranUs = 0;
    this.#kind = -1;
    this.resting = this.tooSlow = false;
    this.task = this.definition = this.options = this.model = undefined;
    this.#profiles.clear();
  }

  #begin(nowUs: number, leftUs: number): void {
    this.fromUs = nowUs;
    this.#leftUs = leftUs;
    this.used = 0;
    this.#settle();
  }

  #join(kind: number, profile: CallProfile): void {
    this.#profiles.set(kind, profile);
    this.#kind = kind;
    // Expects each call to cost as much as a call of the most expensive class.
    this.#costUs = Math.max(this.#costUs, profile.inlineUs);
    this.#settle();
  }

  #settle(): void {
    const costUs = Math.max(this.#costUs, this.#seenUs / coldFactor);
    this.left = Math.max(0, Math.min(callsMax, Math.floor(this.#leftUs / caution / costUs)) - this.used);
  }
}

function isShort(profile: CallProfile): boolean {
  return profile.measured && profile.inlineUs <= meanMaxUs;
}
