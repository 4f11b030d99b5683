// SPDX-License-Identifier: MIT OR Apache-2.0
import { NativeError } from "./error.js";
import type { NativeMemory } from "./memory.js";

/**
 * A plugin's message: bytes or null, and attached memories. `using` or `release()` returns its native memory at once. Without native
 * memory, they do nothing.
 */
export interface NativeMessage extends Disposable {
  /**
   * The message's bytes, or null for a null message. If `memory` is undefined, the bytes are JavaScript's own; otherwise they view the
   * memory. Throws `released` after the release, or if JavaScript has transferred the buffer of the lent memory.
   */
  readonly bytes: Uint8Array | null;
  /** The native memory of the bytes. Undefined if the bytes are JavaScript's own. */
  readonly memory: NativeMemory | undefined;
  /** The attached memories. None of them is copied. */
  readonly attachments: readonly NativeMessage[];
  /** Releases the message's native memory. Further calls do nothing. */
  release(): void;
}

const none: readonly NativeMessage[] = Object.freeze([]);

/** A null message without attachments: the same object each time. */
export const nullMessage: NativeMessage = Object.freeze({
  bytes: null,
  memory: undefined,
  attachments: none,
  release() {},
  [Symbol.dispose]() {},
});

export class Message implements NativeMessage {
  readonly memory: NativeMemory | undefined;
  readonly attachments: readonly NativeMessage[];
  readonly #at: number;
  readonly #size: number;
  #own: Uint8Array | null | undefined;

  constructor(
    own: Uint8Array | null | undefined,
    memory?: NativeMemory,
    at = 0,
    size = memory?.size ?? 0,
    attachments: readonly NativeMessage[] = none,
  ) {
    this.#own = own;
    this.memory = memory;
    this.#at = at;
    this.#size = size;
    this.attachments = attachments;
  }

  get bytes(): Uint8Array | null {
    if (this.memory) {
      const all = this.memory.bytes;
      return this.#size === all.length ? all : all.subarray(this.#at, this.#at + this.#size);
    }
    if (this.#own === undefined)
      throw new NativeError("released", "the bytes stand in memory that was lent, and its buffer was moved away");
    return this.#own;
  }

  release(): void {
    this.memory?.release();
    // Few messages have attachments, and an iterator costs as much as the rest of a call.
    if (this.attachments.length > 0) for (const each of this.attachments) each.release();
  }

  [Symbol.dispose](): void {
    this.release();
  }
}
