// SPDX-License-Identifier: MIT OR Apache-2.0
import { Banishment } from "./banishment.js";
import { type Place, Site, type Together } from "./site.js";

// A task whose arguments come in more kinds than this has no kind that is known well enough.
const sitesMax = 64;

/**
 * All that is known of one task, and the decision where its next call runs. A pure value: times in microseconds, and what
 * is under way on the pool, are passed in.
 */
export class Model {
  readonly banishment = new Banishment();
  readonly sites = new Map<number, Site>();
  readonly #budgetUs: number;

  constructor(budgetUs: number) {
    this.#budgetUs = budgetUs;
  }

  /** What is known of calls with arguments of this class; undefined when there are too many classes. */
  site(argumentClass: number): Site | undefined {
    let site = this.sites.get(argumentClass);
    if (site === undefined && this.sites.size < sitesMax) {
      site = new Site(this.#budgetUs);
      this.sites.set(argumentClass, site);
    }
    return site;
  }

  /** Where a call runs now, with `leftUs` left of the turn. */
  place(site: Site | undefined, burst: number, burstId: number, workers: number, leftUs: number): Place {
    if (site === undefined || this.banishment.active) {
      this.banishment.served();
      return "worker";
    }
    const place = site.choose(burst, burstId, workers);
    return place === "worker" || site.upperUs > leftUs ? "worker" : place;
  }

  /** A call ran inline for so long. `pausedUs`: of that, how long the machine did not run this thread at all. */
  ranInline(site: Site, us: number, place: Place, pausedUs = 0): void {
    if (us > this.#budgetUs) {
      // The stall was the machine's, and would have been without the call.
      if (us - pausedUs <= this.#budgetUs) return;
      this.banishment.overrun();
      site.overran();
      return;
    }
    this.banishment.clean(us);
    site.ranInline(us, place);
  }

  /** Calls of these kinds ran inline and were measured together, no part of it over the budget. */
  ranTogether(sites: ReadonlyMap<number, Site>, ran: Together): void {
    this.banishment.clean(ran.us);
    for (const site of sites.values()) site.ranTogether(ran, sites.size);
  }

  /** Calls of these kinds ran inline one after the other, and together exceeded the budget. Each may have been the long one. */
  overranTogether(sites: ReadonlyMap<number, Site>, us: number, pausedUs = 0): void {
    if (us - pausedUs <= this.#budgetUs) return;
    this.banishment.overrun();
    for (const site of sites.values()) site.overran();
  }
}
