// SPDX-License-Identifier: MIT OR Apache-2.0
import { enterCopy } from "./ledger.js";
import { type MemoryOwner, NativeMemory } from "./memory.js";
import { Message, type NativeMessage, nullMessage } from "./message.js";
import { bodyBytes, field, headsMax, kind, stride } from "./record.js";

const decoder = new TextDecoder();
// The maximum number of bytes that a loop copies. For more bytes, `slice`, which copies in C++, is faster (measured with 8 to 64 bytes in
// Node 20).
const loopBytesMax = 32;

/** The buffers into which the addon writes records, and methods that read the records. */
export class Records {
  readonly heads = new Float64Array(headsMax * stride);
  readonly body = new Uint8Array(bodyBytes);

  constructor(
    readonly owner: MemoryOwner,
    /** Returns the view that was lent under the number `id`. */
    readonly lentView: (id: number) => Uint8Array | undefined,
  ) {}

  get(record: number, name: keyof typeof field): number {
    return this.heads[record * stride + field[name]] as number;
  }

  /** Returns a record's text. It is an error's text, a log line, or the name of a message's channel. */
  text(record: number): string {
    const at = this.get(record, "textAt");
    return decoder.decode(this.body.subarray(at, at + this.get(record, "textSize")));
  }

  /** Returns a record's message. The records after it have the message's attachments. */
  message(record: number): NativeMessage {
    const size = this.get(record, "size");
    const attached = this.get(record, "attached");
    const handle = this.get(record, "handle");
    if (size < 0 && attached === 0) return nullMessage;
    const at = this.get(record, "at");
    const attachments = attached === 0 ? undefined : this.#attachments(record + 1, attached);
    if (size < 0) return new Message(null, undefined, 0, 0, attachments);
    if (handle === 0) {
      // The bytes are at most 63. They were copied into the queue and into the record's body, and are copied again here. The ledger counts
      // these copies as one.
      enterCopy(this.owner.fromNative, "no-memory", size);
      return new Message(this.#copyFromBody(at, size), undefined, 0, 0, attachments);
    }
    if (handle < 0) {
      // The bytes are in a view that JavaScript has lent. They are the whole view or a part of it.
      this.owner.fromNative.sharedBytes += size;
      return new Message(this.#lentBytes(this.lentView(-handle), at, size), undefined, 0, 0, attachments);
    }
    const copied = this.get(record, "copied");
    if (copied > 0) enterCopy(this.owner.fromNative, "no-memory", copied);
    return new Message(undefined, new NativeMemory(this.owner, handle), at, size, attachments);
  }

  /**
   * Returns the lent view, or the part of it with the message's bytes. Returns undefined if JavaScript has transferred the view's buffer.
   * Reading the message's bytes then throws.
   */
  #lentBytes(view: Uint8Array | undefined, at: number, size: number): Uint8Array | undefined {
    if (view === undefined || view.byteLength === size) return view;
    return view.byteLength < at + size ? undefined : view.subarray(at, at + size);
  }

  #attachments(first: number, count: number): NativeMessage[] {
    return Array.from({ length: count }, (_, at) => this.message(first + at));
  }

  #copyFromBody(at: number, size: number): Uint8Array {
    if (size > loopBytesMax) return this.body.slice(at, at + size);
    const bytes = new Uint8Array(size);
    for (let i = 0; i < size; i++) bytes[i] = this.body[at + i] as number;
    return bytes;
  }
}

/** Returns the number of records of a message: its own record and those of its attachments. */
export const recordCount = (records: Records, record: number): number =>
  records.get(record, "kind") === kind.attached ? 1 : 1 + records.get(record, "attached");
