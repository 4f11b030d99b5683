// SPDX-License-Identifier: MIT OR Apache-2.0
import { inMicrotask } from "../../lazy/microtask.js";

// Number of turns of the microtask queue that a report waits for a message to take it along. Code that awaits a call through an async
// function runs three turns after the reply.
const turnsMax = 8;

/** A report of taken bytes, which waits for the next message: a reply, or the reader's next call. */
export class TakenReport {
  #bytes = 0;
  #turnsLeft = 0;
  /** Whether a turn is scheduled. */
  #waits = false;
  readonly #post: () => void;

  /** `post` posts the report alone. It is called if no message of this tick took the report along. */
  constructor(post: () => void) {
    this.#post = post;
  }

  get bytes(): number {
    return this.#bytes;
  }

  add(bytes: number): void {
    if (this.#bytes === 0) this.#turnsLeft = turnsMax;
    this.#bytes += bytes;
    if (this.#waits) return;
    this.#waits = true;
    inMicrotask(this.#turn);
  }

  /** Returns the bytes of the report, which the caller sends. */
  take(): number {
    const bytes = this.#bytes;
    this.#bytes = 0;
    return bytes;
  }

  readonly #turn = (): void => {
    if (this.#bytes > 0 && this.#turnsLeft-- > 0) return inMicrotask(this.#turn);
    this.#waits = false;
    if (this.#bytes > 0) this.#post();
  };
}
