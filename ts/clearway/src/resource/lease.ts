// SPDX-License-Identifier: MIT OR Apache-2.0

/** The times of a resource that a lease goes by, in milliseconds. */
export interface LeaseTimes {
  maxAgeMs: number;
  checkAfterMs: number;
}

/** How the use of a resource ended. */
export type UseOutcome = "ok" | "failed" | "cancelled";

/**
 * The life of one opened resource, as a pure value: idle, in use, gone. Its methods say what the shell has to do.
 */
export class Lease {
  readonly #times: LeaseTimes;
  readonly #openedAt: number;
  readonly #canCheck: boolean;
  #usedAt: number;
  #suspect = false;
  #state: "idle" | "used" | "gone" = "used";

  constructor(times: LeaseTimes, canCheck: boolean, now: number) {
    this.#times = times;
    this.#canCheck = canCheck;
    this.#openedAt = now;
    this.#usedAt = now;
  }

  /** A task wants it: use it, check it first, or close it and take another. */
  take(now: number): "use" | "check" | "close" {
    if (this.#state !== "idle") return "close";
    if (now - this.#openedAt >= this.#times.maxAgeMs) return this.#leave();
    this.#state = "used";
    if (!this.#canCheck) return "use";
    return this.#suspect || now - this.#usedAt >= this.#times.checkAfterMs ? "check" : "use";
  }

  /** The check came back. */
  checked(good: boolean): "use" | "close" {
    this.#suspect = false;
    return good ? "use" : this.#leave();
  }

  /** The task is done with it: keep it for the next, or close it. */
  release(outcome: UseOutcome, now: number): "keep" | "close" {
    this.#usedAt = now;
    if (now - this.#openedAt >= this.#times.maxAgeMs) return this.#leave();
    // A cancelled user may have left a query running or a transaction open; nobody can tell.
    if (outcome === "cancelled") return this.#leave();
    if (outcome === "failed") {
      // Its user threw: perhaps because of it. Without a check there is no way to know.
      if (!this.#canCheck) return this.#leave();
      this.#suspect = true;
    }
    this.#state = "idle";
    return "keep";
  }

  /** Its idle time is over, or the worker shuts down. */
  expire(): "close" | "nothing" {
    return this.#state === "idle" ? this.#leave() : "nothing";
  }

  #leave(): "close" {
    this.#state = "gone";
    return "close";
  }
}
