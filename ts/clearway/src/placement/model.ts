// SPDX-License-Identifier: MIT OR Apache-2.0

import { CallProfile, type Place, type Together } from "./call-profile.js";
import { InlineBackoff } from "./inline-backoff.js";

// A task whose arguments come in more kinds than this has no kind that is known well enough.
const sitesMax = 64;

/**
 * All that is known of one task, and the decision where its next call runs. A pure value: times in microseconds, and what
 * is under way on the pool, are passed in.
 */
export class Model {
  readonly backoff = new InlineBackoff();
  readonly profiles = new Map<number, CallProfile>();
  readonly #budgetUs: number;

  constructor(budgetUs: number) {
    this.#budgetUs = budgetUs;
  }

  /** What is known of calls with arguments of this class; undefined when there are too many classes. */
  profile(argumentClass: number): CallProfile | undefined {
    let profile = this.profiles.get(argumentClass);
    if (profile === undefined && this.profiles.size < sitesMax) {
      profile = new CallProfile(this.#budgetUs);
      this.profiles.set(argumentClass, profile);
    }
    return profile;
  }

  /** Where a call runs now, with `leftUs` left of the turn. */
  place(profile: CallProfile | undefined, burst: number, burstId: number, workers: number, leftUs: number): Place {
    if (profile === undefined || this.backoff.active) {
      this.backoff.served();
      return "worker";
    }
    const place = profile.choose(burst, burstId, workers);
    return place === "worker" || profile.upperUs > leftUs ? "worker" : place;
  }

  /** A call ran inline for so long. `pausedUs`: of that, how long the machine did not run this thread at all. */
  ranInline(profile: CallProfile, us: number, place: Place, pausedUs = 0): void {
    if (us > this.#budgetUs) {
      // The stall was the machine's, and would have been without the call.
      if (us - pausedUs <= this.#budgetUs) return;
      this.backoff.overrun();
      profile.overran();
      return;
    }
    this.backoff.clean(us);
    profile.ranInline(us, place);
  }

  /** Calls of these kinds ran inline and were measured together, no part of it over the budget. */
  ranTogether(profiles: ReadonlyMap<number, CallProfile>, ran: Together): void {
    this.backoff.clean(ran.us);
    for (const profile of profiles.values()) profile.ranTogether(ran, profiles.size);
  }

  /** Calls of these kinds ran inline one after the other, and together exceeded the budget. Each may have been the long one. */
  overranTogether(profiles: ReadonlyMap<number, CallProfile>, us: number, pausedUs = 0): void {
    if (us - pausedUs <= this.#budgetUs) return;
    this.backoff.overrun();
    for (const profile of profiles.values()) profile.overran();
  }
}
