// SPDX-License-Identifier: MIT OR Apache-2.0

// Number of turns of the microtask queue that a report waits for a message to take it along. Code that awaits a call through an async
// function runs three turns after the reply.
const turnsMax = 8;

/** A report of taken bytes, which waits for the next message with values: a reply, or the reader's next call. */
export class TakenReport {
  #bytes = 0;
  readonly #post: () => void;

  /** `post` posts the report alone. It is called if no message of this tick took the report along. */
  constructor(post: () => void) {
    this.#post = post;
  }

  get bytes(): number {
    return this.#bytes;
  }

  add(bytes: number): void {
    if (this.#bytes === 0) this.#wait(turnsMax);
    this.#bytes += bytes;
  }

  /** Returns the bytes of the report, which the caller sends. */
  take(): number {
    const bytes = this.#bytes;
    this.#bytes = 0;
    return bytes;
  }

  #wait(turns: number): void {
    queueMicrotask(() => {
      if (this.#bytes === 0) return;
      if (turns > 0) this.#wait(turns - 1);
      else this.#post();
    });
  }
}
