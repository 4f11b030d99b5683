// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Slot } from "./addon.js";
import { NativeError } from "./error.js";
import { Message, type NativeMessage } from "./message.js";

/** What a lent memory needs of the plugin that it is lent to. */
export interface LendingHome {
  endLoan(slot: Slot): void;
}

/**
 * Memory of JavaScript's that native code may use beyond one call, and which it sees without a copy. It ends in two steps:
 * `release()` takes it out of the hands of JavaScript's calls at once, and `returned` settles when native code has given
 * its last reference back. `await using` waits for both. Until then, native code may still write to it.
 */
export class LentMemory implements AsyncDisposable {
  /** What was lent: the very view, readable all the time. */
  readonly bytes: Uint8Array;
  /** Settles when native code has it no more. */
  readonly returned: Promise<void>;
  readonly #home: LendingHome;
  #slot: Slot | undefined;
  /** @internal What a handler says that answers with all of it. Nothing to release, so it is one for all. */
  readonly message: NativeMessage;
  /** @internal Bytes when it was lent: what native code sees, also where the view was detached since. */
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

  /** Bytes. */
  get size(): number {
    return this.bytes.byteLength;
  }

  get released(): boolean {
    return this.#slot === undefined;
  }

  /** No call may use it any more: that throws `released`. Again does nothing. */
  release(): void {
    if (this.#slot === undefined) return;
    const slot = this.#slot;
    this.#slot = undefined;
    this.#home.endLoan(slot);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.release();
    await this.returned;
  }

  /** @internal The number by which the addon knows it. Throws `released`. */
  get slot(): Slot {
    if (this.#slot === undefined) {
      throw new NativeError("released", `the loan was ended: size=${this.bytes.byteLength}`);
    }
    return this.#slot;
  }
}
