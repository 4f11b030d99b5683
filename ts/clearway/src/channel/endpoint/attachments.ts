// SPDX-License-Identifier: MIT OR Apache-2.0
import { isUntransferable } from "#host";
import { ClearwayError } from "../../error/clearway-error.js";
import type { AttachmentSink } from "../codec/codec.js";
import { isShared } from "../transport/transport.js";

/** Why memory of a message was copied. */
export type ChannelCopyReason =
  /** The bytes were encoded into the message. These are all bytes of a message except its attachments. */
  | "encoded"
  /**
   * Binary memory of less than `attachmentBytesMin` bytes in a value that crossed by structured clone. Its texts, numbers and objects are
   * copied too, and are not counted.
   */
  | "cloned"
  /** A large list that was not given away with `move()`. */
  | "not-moved"
  /** A large list that is a view of a part of its buffer. */
  | "partial-view"
  /** Memory that cannot be transferred, such as WebAssembly memory or Node's buffer pool. */
  | "not-transferable"
  /** The transport carries only bytes. */
  | "byte-transport";

/** Bytes that were sent in one direction. */
export interface ChannelLedgerSide {
  /** Bytes that changed owner without a copy. */
  movedBytes: number;
  /** Bytes of shared memory that a message refers to. Each reference counts. */
  sharedBytes: number;
  /** Bytes that were copied. `copies` has the same bytes by reason. */
  copiedBytes: number;
  copies: Partial<Record<ChannelCopyReason, { count: number; bytes: number }>>;
}

/**
 * Bytes of both directions, as this end counts them. This end does not know why the other end copied bytes. For values that arrive by
 * structured clone, `received` has the numbers that the other end counted.
 */
export interface ChannelLedger {
  sent: ChannelLedgerSide;
  received: Pick<ChannelLedgerSide, "movedBytes" | "sharedBytes" | "copiedBytes">;
}

export function emptyLedger(): ChannelLedger {
  return {
    sent: { movedBytes: 0, sharedBytes: 0, copiedBytes: 0, copies: {} },
    received: { movedBytes: 0, sharedBytes: 0, copiedBytes: 0 },
  };
}

export function enterCopy(side: ChannelLedgerSide, reason: ChannelCopyReason, bytes: number, lists = 1): void {
  side.copiedBytes += bytes;
  side.copies[reason] ??= { count: 0, bytes: 0 };
  const entry = side.copies[reason];
  entry.count += lists;
  entry.bytes += bytes;
}

/** Rules for the large lists of a message. */
export interface AttachmentRules {
  /** Minimum size of a list that becomes an attachment, in bytes. */
  readonly bytesMin: number;
  /** Whether the transport moves memory. If false, the frame contains the attachments' bytes. */
  readonly moves: boolean;
  readonly shares: boolean;
  /** Whether to throw an error instead of copying an attachment. */
  readonly strict: boolean;
}

/**
 * Which code gives up a message's lists, so that their memory may be moved. `move`: the caller, with `move()`. `result`: the
 * handler or the source of events. `kept`: no code gives them up, so they are copied.
 */
export type Ownership = "kept" | "result" | "move";

// Maximum number of attachments of a message. Further lists stay in the message, because each attachment has a cost. The
// frame's head has room for 65,535.
const attachmentsMax = 1024;

/**
 * Collects the attachments of one message, and counts how many bytes are moved, shared and copied. An instance without
 * attachments can be used for the next message.
 */
export class Attachments implements AttachmentSink {
  readonly list: Uint8Array[] = [];
  readonly copies: [reason: ChannelCopyReason, bytes: number][] = [];
  movedBytes = 0;
  sharedBytes = 0;
  /** Which code gives up the message's lists. */
  ownership: Ownership = "kept";
  readonly #rules: AttachmentRules;
  /** Attachment numbers by buffer. A buffer that occurs twice in a message becomes one attachment. */
  #taken: Map<ArrayBufferLike, number> | undefined;

  constructor(rules: AttachmentRules) {
    this.#rules = rules;
  }

  take(view: ArrayBufferView): number {
    const { moves, shares } = this.#rules;
    const { buffer, byteLength } = view;
    const move = this.ownership === "move";
    // With `move()`, small lists become attachments too, because nothing may be copied.
    if ((byteLength < this.#rules.bytesMin && !move) || byteLength === 0 || this.list.length >= attachmentsMax)
      return -1;
    if (!moves) return this.#copy(view, "byte-transport");
    if (isShared(buffer)) return shares ? this.#share(view) : this.#copy(view, "not-transferable");
    if (this.ownership === "kept") return this.#copy(view, "not-moved");
    if (byteLength !== buffer.byteLength) return this.#copy(view, "partial-view");
    const before = this.#taken?.get(buffer);
    if (before !== undefined) return before;
    if (!canMove(buffer)) return this.#copy(view, "not-transferable");
    this.movedBytes += byteLength;
    this.#taken ??= new Map();
    this.#taken.set(buffer, this.list.length);
    return this.list.push(new Uint8Array(buffer)) - 1;
  }

  /** Counts the attachments, which were sent, in the ledger. */
  enter(sent: ChannelLedgerSide): void {
    sent.movedBytes += this.movedBytes;
    sent.sharedBytes += this.sharedBytes;
    for (const [reason, bytes] of this.copies) enterCopy(sent, reason, bytes);
  }

  #share({ buffer, byteOffset, byteLength }: ArrayBufferView): number {
    this.sharedBytes += byteLength;
    return this.list.push(new Uint8Array(buffer, byteOffset, byteLength)) - 1;
  }

  // Adds an attachment that is copied. A transport of bytes needs no copy here, because writing the frame copies the list.
  #copy({ buffer, byteOffset, byteLength }: ArrayBufferView, reason: ChannelCopyReason): number {
    if (this.#rules.strict || (this.ownership === "move" && reason !== "partial-view"))
      throw wouldCopy(reason, byteLength);
    this.copies.push([reason, byteLength]);
    const bytes = new Uint8Array(buffer, byteOffset, byteLength);
    return this.list.push(reason === "byte-transport" ? bytes : new Uint8Array(bytes)) - 1;
  }
}

// Buffers that arrived in a message, and can therefore move. Node 20 has only a slow test for WebAssembly memory: it took 20 of 55 us of a
// round trip of 1 MiB.
const arrived = /* @__PURE__ */ new WeakSet<ArrayBufferLike>();

// WebAssembly memory comes in pages of this size.
const testedBytesMin = 65_536;

/** Notes the memory of a message that arrived, if the message is a large list alone: programs often send it back. */
export function noteArrived(value: unknown): void {
  if (ArrayBuffer.isView(value) && value.byteLength >= testedBytesMin && !isShared(value.buffer))
    arrived.add(value.buffer);
}

/** Returns whether a buffer that is not shared can be moved. */
export function canMove(buffer: ArrayBuffer): boolean {
  return arrived.has(buffer) || !isUntransferable(buffer);
}

/** Returns the error for memory that has to be moved but cannot be moved. */
export function wouldCopy(reason: ChannelCopyReason, bytes: number): ClearwayError {
  return new ClearwayError("would-copy", `${bytes} bytes would have been copied (${reason})`);
}
