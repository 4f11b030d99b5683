// SPDX-License-Identifier: MIT OR Apache-2.0
import type { TaskDefinition } from "../task/task.js";
import type { CallProfile } from "./call-profile.js";
import { burstClass } from "./cost.js";
import type { Model } from "./model.js";
import type { PlacedOptions, PlacedTask } from "./owner.js";

// Two looks at the clock (40 ns each) and the decision are most of what a run of arithmetic costs. Only tasks that short
// gain by it. By their mean: what is measured one by one then is the first call of some bursts, whose caches are cold.
const meanMaxUs = 8;
// That many calls at most between two looks at the clock, and so few that four times what they are expected to take is half
// of what is left of the turn.
const callsMax = 128;
const caution = 2 * 4;
// The first call of a burst, which meets cold caches, takes up to so many times what the others do; if it does not, and they
// all take what it took, they still end within half of what is left.
const coldFactor = 4;
// What is expected of a call at least: a page's clock steps by 5 us or more, and a mean may come out as nothing.
const leastUs = 0.25;
// So many looks at the clock in a burst, and so many bursts. Then a call is decided and measured by itself again: that
// reads all that is known of a task, 50 us for eight kinds whose figures are out of the caches, where a burst takes 9.
const looksMax = 8;
const burstsMax = 64;
// What ran under it took so many times what was expected, and that a burst begins with cold caches: something has changed,
// and each call is looked at again.
const surprise = 4;
const coldUs = 8;

/**
 * Leave for the next calls of one task to run inline without being decided and measured one by one. What they took is
 * measured together: of a burst, and of every 128 of its calls. It is granted for the kind of call that was just measured;
 * other kinds join one by one (the numbers from 0 to 99 are eight kinds). Rests between bursts, so that nobody else's
 * code is measured but the caller's loop. A pure value: it is told the time, in microseconds.
 *
 *   granted ── take, take, … ──┬── look ── take …       128 calls on
 *      │                       └── rest ── resume ── take …   the next burst
 *      └──────────────────────────────────────── end    another task; 64 bursts; a surprise
 */
export class InlineGrant {
  /** Calls that may run before the clock has to be looked at. */
  left = 0;
  /** Calls that ran since it was. */
  used = 0;
  /** When that was. */
  fromUs = 0;
  resting = false;
  /** What ran was not what was expected: it has to end. */
  surprised = false;
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
  #looks = 0;
  #ran = 0;
  #ranUs = 0;

  /**
   * A call in a burst of so many was measured and took `us`, and `leftUs` are left of the turn: its kind runs under the grant
   * that there is for its task, or a new one. Grants nothing where the clock costs little in comparison.
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
    if (task !== this.task || options !== this.options || !leasable(profile)) this.end();
    if (!leasable(profile)) return;
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
    this.#looks = 0;
    this.#begin(nowUs, leftUs);
    this.#join(kind, profile);
  }

  /** Whether calls of this kind run under it, and may have run in this burst. */
  covers(kind: number): boolean {
    if (kind === this.#kind) return true;
    if (!this.#profiles.has(kind)) return false;
    this.#kind = kind;
    return true;
  }

  /**
   * Lets another kind run under it, if that one was measured of late, is as short, and would run inline by its own choice.
   * Otherwise false: its call is to be decided and measured by itself.
   */
  widen(kind: number, burst: number, burstId: number): boolean {
    const profile = this.model?.profiles.get(kind);
    if (profile === undefined || !leasable(profile) || profile.upperUs > this.#leftUs / 2) return false;
    if (!profile.joins(burst, burstId)) return false;
    this.#join(kind, profile);
    return true;
  }

  /** What each call that runs under it is taken to cost. */
  get costUs(): number {
    return this.#costUs;
  }

  /** A call ran under it. */
  take(): void {
    this.left--;
    this.used++;
  }

  /** The clock was looked at: what ran since took so long. Over the budget, all that ran under it is held against its kinds. */
  look(nowUs: number, budgetUs: number, pausedUs = 0): void {
    const us = nowUs - this.fromUs;
    this.fromUs = nowUs;
    if (us > budgetUs) {
      this.model?.overranTogether(this.#profiles, us, pausedUs);
      this.surprised = true;
    } else {
      this.#ran += this.used;
      this.#ranUs += us;
      if (us > surprise * (this.used * this.#costUs + coldUs)) this.surprised = true;
    }
    this.#seenUs = us / this.used;
    this.used = 0;
  }

  /**
   * Goes on in the same burst, of so many calls by now, with what is left of the turn. False when the next call is to be
   * decided and measured by itself.
   */
  renew(burst: number, nowUs: number, leftUs: number): boolean {
    // A burst that grows beyond what was expected is decided again as what it has become.
    if (this.surprised || burstClass(burst) !== burstClass(this.#burst)) {
      this.end();
      return false;
    }
    this.#begin(nowUs, leftUs);
    return ++this.#looks < looksMax && this.left > 0;
  }

  /** The burst is over, which had so many calls. One of another size would be decided by other prices. */
  rest(burst: number): void {
    if (this.task === undefined) return;
    if (burstClass(burst) !== burstClass(this.#burst)) return this.end();
    this.left = 0;
    this.resting = true;
  }

  /** Goes on in the next burst, with one call that is looked at. False when it has to end. */
  resume(nowUs: number, leftUs: number): boolean {
    this.resting = false;
    this.#looks = 0;
    this.#begin(nowUs, leftUs);
    if (this.left > 1) this.left = 1;
    const lasts = ++this.#bursts < burstsMax && !this.surprised && this.left > 0;
    if (!lasts) this.end();
    return lasts;
  }

  /** Tells what was learnt, and stands for nothing from now on. */
  end(): void {
    if (this.task === undefined) return;
    if (this.#ran > 0) {
      const ran = { runs: this.#ran, us: this.#ranUs, burst: this.#burst, bursts: this.#bursts };
      this.model?.ranTogether(this.#profiles, ran);
    }
    this.left = this.used = this.#ran = this.#ranUs = 0;
    this.#kind = -1;
    this.resting = this.surprised = false;
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
    // Each call is taken for the dearest of those that run under it.
    this.#costUs = Math.max(this.#costUs, profile.inlineUs);
    this.#settle();
  }

  #settle(): void {
    const costUs = Math.max(this.#costUs, this.#seenUs / coldFactor);
    this.left = Math.max(0, Math.min(callsMax, Math.floor(this.#leftUs / caution / costUs)) - this.used);
  }
}

function leasable(profile: CallProfile): boolean {
  return profile.measured && profile.inlineUs <= meanMaxUs;
}
