// SPDX-License-Identifier: MIT OR Apache-2.0

/** The time limits of a resource, in milliseconds. */
export interface LeaseTimes {
  maxAgeMs: number;
  checkAfterMs: number;
}

/** How the use of a resource ended. */
export type UseOutcome = "ok" | "failed" | "cancelled";

/**
 * The state of one open resource: idle, used or closed. Runs no code of the resource. The methods return the action that the caller must
 * take.
 */
export class Lease {
  readonly #times: LeaseTimes;
  readonly #openedAt: number;
  readonly #canCheck: boolean;
  #usedAt: number;
  #suspect = false;
  #state: "idle" | "used" | "closed" = "used";

  constructor(times: LeaseTimes, canCheck: boolean, now: number) {
    this.#times = times;
    this.#canCheck = canCheck;
    this.#openedAt = now;
    this.#usedAt = now;
  }

  /** Takes the resource for a task. Returns whether the caller must use it, check it first, or close it and take another one. */
  take(now: number): "use" | "check" | "close" {
    if (this.#state !== "idle") return "close";
    if (now - this.#openedAt >= this.#times.maxAgeMs) return this.#close();
    this.#state = "used";
    if (!this.#canCheck) return "use";
    return this.#suspect || now - this.#usedAt >= this.#times.checkAfterMs ? "check" : "use";
  }

  /** Handles the result of a check. Returns whether the caller must use the resource or close it. */
  checked(good: boolean): "use" | "close" {
    this.#suspect = false;
    return good ? "use" : this.#close();
  }

  /** Ends a task's use of the resource. Returns whether the caller must keep it for the next task or close it. */
  release(outcome: UseOutcome, now: number): "keep" | "close" {
    this.#usedAt = now;
    if (now - this.#openedAt >= this.#times.maxAgeMs) return this.#close();
    // A cancelled task may have left a query running or a transaction open. Clearway cannot detect that.
    if (outcome === "cancelled") return this.#close();
    if (outcome === "failed") {
      // The task threw, perhaps because the resource is broken. Only a check can find out.
      if (!this.#canCheck) return this.#close();
      this.#suspect = true;
    }
    this.#state = "idle";
    return "keep";
  }

  /** Called when the idle time is over, or when the worker shuts down. Returns whether the caller must close the resource. */
  expire(): "close" | "nothing" {
    return this.#state === "idle" ? this.#close() : "nothing";
  }

  #close(): "close" {
    this.#state = "closed";
    return "close";
  }
}
