// SPDX-License-Identifier: MIT OR Apache-2.0

interface Waiting {
  readonly priority: number;
  readonly start: () => void;
  readonly refuse: (reason: unknown) => void;
}

/**
 * Slots of the calls that are claimed and in the local pool. A call waits for one before it is claimed, so that a call which only waits here can
 * still run in another process when this one ends.
 */
export class Slots {
  readonly #size: () => number;
  // By priority, and then by age.
  readonly #waiting: Waiting[] = [];
  #used = 0;
  #ended: { readonly reason: unknown } | undefined;

  /** `size` returns the number of slots now, at least 1. */
  constructor(size: () => number) {
    this.#size = size;
  }

  /** Waits for a slot. The highest priority has the first one. Rejects with the reason of {@link end}. */
  take(priority: number): Promise<void> {
    return new Promise((start, refuse) => {
      if (this.#ended) return refuse(this.#ended.reason);
      const at = this.#waiting.findIndex((each) => each.priority < priority);
      this.#waiting.splice(at === -1 ? this.#waiting.length : at, 0, { priority, start, refuse });
      this.#startNext();
    });
  }

  /** Gives a slot back. */
  give(): void {
    this.#used--;
    this.#startNext();
  }

  /** Refuses the calls that wait, and all later ones. */
  end(reason: unknown): void {
    this.#ended ??= { reason };
    for (const { refuse } of this.#waiting.splice(0)) refuse(reason);
  }

  #startNext(): void {
    while (this.#waiting.length > 0 && this.#used < this.#size()) {
      this.#used++;
      this.#waiting.shift()!.start();
    }
  }
}
