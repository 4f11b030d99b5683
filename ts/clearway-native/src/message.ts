// SPDX-License-Identifier: MIT OR Apache-2.0
import { NativeError } from "./error.js";
import type { NativeMemory } from "./memory.js";

/**
 * A message, an answer or an event of a plugin: bytes or null, and attached memories. `using` or `release()` releases its native memory at
 * once. If the message has no native memory, they do nothing.
 */
export interface NativeMessage extends Disposable {
  /**
   * The message's bytes, or null for a null message. The bytes are a view of `memory`, or JavaScript's own if `memory` is undefined. Throws
   * `released` after native memory was released. Throws `released` also if the bytes are in lent memory whose buffer was transferred.
   */
  readonly bytes: Uint8Array | null;
  /** The native memory that contains the bytes. Undefined if the bytes are JavaScript's own. */
  readonly memory: NativeMemory | undefined;
  /** The attached memories. They are not copied. */
  readonly attachments: readonly NativeMessage[];
  /** Releases the native memory of the message and of its attachments. Calling it again does nothing. */
  release(): void;
}

const noAttachments: readonly NativeMessage[] = Object.freeze([]);

/** The null message without attachments. All such messages are this object. */
export const nullMessage: NativeMessage = Object.freeze({
  bytes: null,
  memory: undefined,
  attachments: noAttachments,
  release() {},
  [Symbol.dispose]() {},
});

export class Message implements NativeMessage {
  readonly memory: NativeMemory | undefined;
  readonly attachments: readonly NativeMessage[];
  readonly #at: number;
  readonly #size: number;
  #ownBytes: Uint8Array | null | undefined;

  constructor(
    ownBytes: Uint8Array | null | undefined,
    memory?: NativeMemory,
    at = 0,
    size = memory?.size ?? 0,
    attachments: readonly NativeMessage[] = noAttachments,
  ) {
    this.#ownBytes = ownBytes;
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
    if (this.#ownBytes === undefined)
      throw new NativeError("released", "the bytes are in lent memory whose buffer was transferred");
    return this.#ownBytes;
  }

  release(): void {
    this.memory?.release();
    // Checks the length first: few messages have attachments, and making an iterator costs as much as the rest of a call.
    if (this.attachments.length > 0) for (const each of this.attachments) each.release();
  }

  [Symbol.dispose](): void {
    this.release();
  }
}
