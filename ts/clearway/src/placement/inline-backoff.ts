// SPDX-License-Identifier: MIT OR Apache-2.0

// 64 calls: as many as make a worker's own figures half new, and a short time for a task that is called often.
const firstCalls = 64;
// 2^16 calls at most: a task that goes wrong so seldom that it comes back costs one stall in 65,536 calls.
const highest = 10;
// One step back for so much time of clean inline runs, a frame's. Pauses of the machine come by time (every 25 ms of a
// busy one, measured on two cores that six processes share), a task's own long runs by calls: a task of 1 us that is long
// once in 3000 calls is so every 3 ms.
const cleanUs = 16_000;

/**
 * A task that held the caller's thread over the budget goes to the worker for a number of calls, twice as many every
 * time. A pure value; counts calls, not time, so that a task that is called seldom is not tried again at every call.
 */
export class InlineBackoff {
  #level = -1;
  #callsLeft = 0;
  #cleanUs = 0;
  /** How often it was backingOff. */
  times = 0;

  get active(): boolean {
    return this.#callsLeft > 0;
  }

  /** How many calls it will last. */
  get callsLeft(): number {
    return this.#callsLeft;
  }

  /** An inline run was over the budget. */
  overrun(): void {
    this.times++;
    this.#level = Math.min(this.#level + 1, highest);
    this.#callsLeft = firstCalls * 2 ** this.#level;
    this.#cleanUs = 0;
  }

  /** A call went to the worker. */
  served(): void {
    if (this.#callsLeft > 0) this.#callsLeft--;
  }

  /** Inline runs took so long, and none of them was over the budget. */
  clean(us: number): void {
    if (this.#level < 0) return;
    this.#cleanUs += us;
    if (this.#cleanUs < cleanUs) return;
    this.#cleanUs = 0;
    this.#level--;
  }
}
