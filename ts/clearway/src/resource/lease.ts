// SPDX-License-Identifier: MIT OR Apache-2.0

/** The time limits of a resource, in milliseconds. */
export interface LeaseTimes {
  maxAgeMs: number;
  checkAfterMs: number;
}

/** How the use of a resource ended. */
export type UseOutcome = "ok" | "failed" | "cancelled";

/** The state of one opened resource, as a pure value: idle, used or gone. Its methods return the action that the caller must take. */
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

  /** Takes the resource for a task: use it, check it first, or close it and take another. */
  take(now: number): "use" | "check" | "close" {
    if (this.#state !== "idle") return "close";
    if (now - this.#openedAt >= this.#times.maxAgeMs) return this.#leave();
    this.#state = "used";
    if (!this.#canCheck) return "use";
    return this.#suspect || now - this.#usedAt >= this.#times.checkAfterMs ? "check" : "use";
  }

  /** Takes the result of the check. */
  checked(good: boolean): "use" | "close" {
    this.#suspect = false;
    return good ? "use" : this.#leave();
  }

  /** Ends a task's use of the resource: keep it for the next task, or close it. */
  release(outcome: UseOutcome, now: number): "keep" | "close" {
    this.#usedAt = now;
    if (now - this.#openedAt >= this.#times.maxAgeMs) return this.#leave();
    // A cancelled task may have left a query running or a transaction open, which cannot be detected.
    if (outcome === "cancelled") return this.#leave();
    if (outcome === "failed") {
      // The task threw, perhaps because of the resource. Only a check can tell.
      if (!this.#canCheck) return this.#leave();
      this.#suspect = true;
    }
    this.#state = "idle";
    return "keep";
  }

  /** Ends the idle time, after its limit or when the worker shuts down. */
  expire(): "close" | "nothing" {
    return this.#state === "idle" ? this.#leave() : "nothing";
  }

  #leave(): "close" {
    this.#state = "gone";
    return "close";
  }
}
