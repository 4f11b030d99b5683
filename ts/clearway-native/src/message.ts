// SPDX-License-Identifier: MIT OR Apache-2.0
import { NativeError } from "./error.js";
import type { NativeMemory } from "./memory.js";

/**
 * A plugin's message: bytes or null, and attached memories. `using` or `release()` gives its native memory back at once; without native
 * memory they do nothing.
 */
export interface NativeMessage extends Disposable {
  /**
   * The message's bytes; null for a null message. JavaScript's own bytes if `memory` is undefined, else a view of it. Throws `released`
   * after the release, and when the bytes are in lent memory whose buffer JavaScript has moved away.
   */
  readonly bytes: Uint8Array | null;
  /** The native memory that holds the bytes; undefined if they are JavaScript's own. */
  readonly memory: NativeMemory | undefined;
  /** Attached memories, none of them copied. */
  readonly attachments: readonly NativeMessage[];
  /** Gives the message's native memory back. Further calls do nothing. */
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
