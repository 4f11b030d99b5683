// SPDX-License-Identifier: MIT OR Apache-2.0

/** What waits to leave. `leave` sends it; `refuse` is told where that throws. */
export interface Waiting {
  leave(): void;
  refuse(reason: unknown): void;
}

/**
 * Requests that wait while the transport asks to hold back, in the order in which they were made. How many, is bounded by
 * whoever makes them. A pure value.
 */
export class Outbox {
  #waiting: Waiting[] = [];
  readonly #held: () => boolean;

  constructor(held: () => boolean) {
    this.#held = held;
  }

  /** Sends it now, or keeps it. False when it was kept. */
  push(request: Waiting): boolean {
    if (this.#waiting.length > 0 || this.#held()) {
      this.#waiting.push(request);
      return false;
    }
    leave(request);
    return true;
  }

  /** Takes one out that has not left; false when it has. */
  remove(request: Waiting): boolean {
    const index = this.#waiting.indexOf(request);
    if (index < 0) return false;
    this.#waiting.splice(index, 1);
    return true;
  }

  /** There is room again. */
  drain(): void {
    while (!this.#held()) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      leave(next);
    }
  }

  /** Nothing leaves any more. */
  clear(): void {
    this.#waiting = [];
  }
}

function leave(request: Waiting): void {
  try {
    request.leave();
  } catch (reason) {
    request.refuse(reason);
  }
}
