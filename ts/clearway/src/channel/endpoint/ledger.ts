// SPDX-License-Identifier: MIT OR Apache-2.0

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
