// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Handle } from "./addon.js";
import { invalid, NativeError } from "./error.js";
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

/** Receives the events of one stream. */
export interface StreamSink {
  event(message: NativeMessage): void;
  /** Reports that `count` events were dropped. */
  eventsDropped(count: number): void;
  /** Reports the end of the stream. `error` is undefined if the stream ended normally. */
  end(error: unknown): void;
}

/** Receives a message of the plugin, and answers it with `Port.answer` or `Port.answerError`. */
export type MessageSink = (message: NativeMessage, reply: Handle) => void;

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

/** What lent memory uses of the plugin. */
export interface LoanOwner {
  /** Ends JavaScript's part of a loan whose return is `returned`. */
  endLoan(handle: Handle, returned: Promise<void>): void;
  release(handle: Handle): void;
  /** The number of memories and loans that the garbage collector released. */
  leaked: number;
}

// After a `LentMemory` was collected without a call of `release()`, ends JavaScript's part of the loan. Unlike `release()`, this does not
// keep the process alive until the return.
const releaseRegistry = new FinalizationRegistry<{ owner: LoanOwner; handle: Handle }>(({ owner, handle }) => {
  owner.leaked++;
  owner.release(handle);
});

/**
 * JavaScript's memory that is lent to native code without a copy. Native code may use it after a call has returned. A loan ends in two
 * steps. First, JavaScript calls `release()`; it can then no longer send the memory. Second, native code releases its last reference, and
 * `returned` settles. Until then, native code may write to the memory. `await using` does the first step and waits for the second. If the
 * owner forgets the first step, the garbage collector does it later. The plugin's `stats().leaked` counts such loans.
 */
export class LentMemory implements AsyncDisposable {
  /** The lent view itself. JavaScript can read it at any time. */
  readonly bytes: Uint8Array;
  /** Settles when the loan has ended: after `release()`, native code has released its last reference. */
  readonly returned: Promise<void>;
  readonly #owner: LoanOwner;
  readonly #returned: Promise<void>;
  #handle: Handle | undefined;
  /** @internal The answer of a handler that answers with the whole memory. It needs no release, so all calls return this object. */
  readonly message: NativeMessage;
  /** @internal The number of lent bytes. It does not change if JavaScript detaches the view's buffer. */
  readonly lentBytes: number;

  /** @internal */
  constructor(owner: LoanOwner, handle: Handle, bytes: Uint8Array, returned: Promise<void>) {
    this.#owner = owner;
    this.#handle = handle;
    this.bytes = bytes;
    this.lentBytes = bytes.byteLength;
    this.message = new Message(bytes);
    this.returned = returned;
    this.#returned = returned;
    releaseRegistry.register(this, { owner, handle }, this);
  }

  /** The size in bytes. It is 0 if JavaScript has transferred the view's buffer. */
  get size(): number {
    return this.bytes.byteLength;
  }

  /** Whether JavaScript has called `release()`. */
  get released(): boolean {
    return this.#handle === undefined;
  }

  /** Ends JavaScript's part of the loan. Calls with this memory then throw `released`. Calling this method again does nothing. */
  release(): void {
    if (this.#handle === undefined) return;
    const handle = this.#handle;
    this.#handle = undefined;
    releaseRegistry.unregister(this);
    this.#owner.endLoan(handle, this.#returned);
  }

  /** Ends the loan at the end of an `await using` block. Waits until native code has released the memory. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.release();
    await this.returned;
  }

  /** @internal The core's handle of the memory. Throws `released` after the release. */
  get handle(): Handle {
    if (this.#handle === undefined) {
      throw new NativeError("released", `the loan was ended: size=${this.bytes.byteLength}`);
    }
    return this.#handle;
  }
}

/** The content of a message to a plugin: JavaScript's own bytes, native memory, lent memory, or null. */
export type Payload = Uint8Array | NativeMemory | LentMemory | null;

/** The memories attached to a message, at most 32. They are not copied. */
export type Attachments = readonly (NativeMemory | LentMemory)[];

/** Returns a payload in the addon's form: undefined for null, bytes, or a memory's handle. Throws `released` for released memory. */
export const toAddonPayload = (payload: Payload): Uint8Array | Handle | undefined =>
  payload === null || payload instanceof Uint8Array ? (payload ?? undefined) : handleOf(payload);

/** Returns the core's handle of a memory. Throws `released` for released memory, and `invalid-argument` for a value of another type. */
export function handleOf(
  memory: NativeMemory | LentMemory,
  name = "message",
  must = "a Uint8Array, memory, or null",
): Handle {
  const handle: unknown = memory?.handle;
  // Without a size, the ledger would no longer be a number.
  if (typeof handle !== "number" || typeof memory.size !== "number") throw invalid(name, must, memory);
  return handle;
}
