// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Slot } from "./addon.js";
import { NativeError } from "./error.js";
import { Message, type NativeMessage } from "./message.js";

/** The method of the plugin that lent memory uses. */
export interface LendingHome {
  endLoan(slot: Slot): void;
}

/**
 * JavaScript's memory that is lent to native code without a copy. Native code may use it after a call has returned. A loan ends in two
 * steps. First, JavaScript calls `release()`; it can then no longer send the memory. Second, native code releases its last reference, and
 * `returned` settles. Until then, native code may write to the memory. `await using` does the first step and waits for the second.
 */
export class LentMemory implements AsyncDisposable {
  /** The lent view itself. JavaScript can read it at any time. */
  readonly bytes: Uint8Array;
  /** Settles when the loan has ended: after `release()`, native code has released its last reference. */
  readonly returned: Promise<void>;
  readonly #home: LendingHome;
  #slot: Slot | undefined;
  /** @internal The answer of a handler that answers with the whole memory. It needs no release, so all calls return this object. */
  readonly message: NativeMessage;
  /** @internal The number of lent bytes. It does not change if JavaScript detaches the view's buffer. */
  readonly lentBytes: number;

  /** @internal */
  constructor(home: LendingHome, slot: Slot, bytes: Uint8Array, returned: Promise<void>) {
    this.#home = home;
    this.#slot = slot;
    this.bytes = bytes;
    this.lentBytes = bytes.byteLength;
    this.message = new Message(bytes);
    this.returned = returned;
  }

  /** The size in bytes. It is 0 if JavaScript has transferred the view's buffer. */
  get size(): number {
    return this.bytes.byteLength;
  }

  /** Whether JavaScript has called `release()`. */
  get released(): boolean {
    return this.#slot === undefined;
  }

  /** Ends JavaScript's part of the loan. Calls with this memory then throw `released`. Calling this method again does nothing. */
  release(): void {
    if (this.#slot === undefined) return;
    const slot = this.#slot;
    this.#slot = undefined;
    this.#home.endLoan(slot);
  }

  /** Ends the loan at the end of an `await using` block. Waits until native code has released the memory. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.release();
    await this.returned;
  }

  /** @internal The addon's number of the memory. Throws `released` after the release. */
  get slot(): Slot {
    if (this.#slot === undefined) {
      throw new NativeError("released", `the loan was ended: size=${this.bytes.byteLength}`);
    }
    return this.#slot;
  }
}
