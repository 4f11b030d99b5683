// SPDX-License-Identifier: MIT OR Apache-2.0

// One call inline among many in a worker finds its code and its data out of the caches: 30 us for a run of 6. So a trial
// is a row of calls, of which the first warm the place up and the others' median counts.
const warmUpCalls = 8;
const countedCalls = 16;

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
