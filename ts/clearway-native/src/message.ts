// SPDX-License-Identifier: MIT OR Apache-2.0
import { NativeError } from "./error.js";
import type { NativeMemory } from "./memory.js";

/**
 * What a plugin said: bytes, or null, and memories that came along. With `using`, or `release()`, its native memory is given
 * back at once; where it has none, that does nothing.
 */
export interface NativeMessage extends Disposable {
  /**
   * Null where the message is null. Yours while `memory` is undefined, else a view of it. Throws `released` after the release, and
   * where the bytes stand in memory that was lent and whose buffer JavaScript has moved away since.
   */
  readonly bytes: Uint8Array | null;
  /** The native memory in which the bytes stand; undefined where they are JavaScript's own. */
  readonly memory: NativeMemory | undefined;
  /** Further memories, none of them copied. */
  readonly attachments: readonly NativeMessage[];
  release(): void;
}

const none: readonly NativeMessage[] = Object.freeze([]);

/** A null without anything: the same object each time. */
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
    // Hardly any message has some, and an iterator costs as much as the rest of a call.
    if (this.attachments.length > 0) for (const each of this.attachments) each.release();
  }

  [Symbol.dispose](): void {
    this.release();
  }
}
