// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Slot } from "./addon.js";
import { NativeError } from "./error.js";
import { Message, type NativeMessage } from "./message.js";

/** The interface that lent memory needs of its plugin. */
export interface LendingHome {
  endLoan(slot: Slot): void;
}

/**
 * JavaScript's memory that native code may use beyond one call, without a copy. A loan ends in two steps. After `release()`, JavaScript's
 * calls can no longer use the memory. `returned` settles after native code has released its last reference. `await using` waits for both
 * steps. Until then, native code may still write to the memory.
 */
export class LentMemory implements AsyncDisposable {
  /** The lent view itself, readable at any time. */
  readonly bytes: Uint8Array;
  /** Settles when native code no longer has the memory. */
  readonly returned: Promise<void>;
  readonly #home: LendingHome;
  #slot: Slot | undefined;
  /** @internal The message for a handler that answers with the whole memory. It needs no release, so one instance serves every call. */
  readonly message: NativeMessage;
  /** @internal The number of lent bytes. Native code sees this number of bytes, even if JavaScript has detached the view. */
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

  /** Size in bytes. */
  get size(): number {
    return this.bytes.byteLength;
  }

  get released(): boolean {
    return this.#slot === undefined;
  }

  /** Ends the loan for JavaScript: calls with this memory then throw `released`. Further calls of this method do nothing. */
  release(): void {
    if (this.#slot === undefined) return;
    const slot = this.#slot;
    this.#slot = undefined;
    this.#home.endLoan(slot);
  }

  /** Ends the loan, and waits until native code has released the memory. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.release();
    await this.returned;
  }

  /** @internal The addon's number of the memory. Throws `released`. */
  get slot(): Slot {
    if (this.#slot === undefined) {
      throw new NativeError("released", `the loan was ended: size=${this.bytes.byteLength}`);
    }
    return this.#slot;
  }
}
