// SPDX-License-Identifier: MIT OR Apache-2.0
import type { CallTimes, TaskTimings, Timings } from "../../stats/timings.js";
import { loadTimings } from "../parts.js";

// How many calls may be answered before the histograms are there; a part of a few KB is loaded in some milliseconds.
const earlyLimit = 10_000;

/** Where the times of calls go under `metrics`. The histograms are loaded now; calls that are quicker wait in a list. */
export class Metrics {
  #early: [task: string, times: CallTimes][] = [];
  #timings: Timings | undefined;
  /** Settles when the histograms are there, or cannot be had. */
  readonly loaded: Promise<void>;

  /** `failed` is told when the histograms cannot be loaded: the pool goes on without. */
  constructor(failed: (reason: unknown) => void) {
    this.loaded = loadTimings().then((part) => {
      this.#timings = new part.Timings();
      for (const [task, times] of this.#early.splice(0)) this.#timings.enter(task, times);
    }, failed);
  }

  enter(task: string, times: CallTimes): void {
    if (this.#timings) this.#timings.enter(task, times);
    else if (this.#early.length < earlyLimit) this.#early.push([task, times]);
  }

  of(task: string): TaskTimings | undefined {
    return this.#timings?.of(task);
  }
}
