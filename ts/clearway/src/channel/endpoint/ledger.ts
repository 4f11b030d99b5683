// SPDX-License-Identifier: MIT OR Apache-2.0

/** Why memory of a message was copied. */
export type ChannelCopyReason =
  /** It stands in the message: all of a message's bytes but for its attachments. */
  | "encoded"
  /** A large list that was not given away with `move()`. */
  | "not-moved"
  /** A large list that shows a part of its buffer. */
  | "partial-view"
  /** Memory that its owner does not let go: WebAssembly's, Node's buffer pool. */
  | "not-transferable"
  /** The transport carries bytes only. */
  | "byte-transport";

/** Bytes that crossed one way. */
export interface ChannelLedgerSide {
  /** Bytes that changed owner without a copy. */
  movedBytes: number;
  /** Bytes of shared memory that were named in a message (counted each time). */
  sharedBytes: number;
  /** Bytes that were copied; `copies` says why. */
  copiedBytes: number;
  copies: Partial<Record<ChannelCopyReason, { count: number; bytes: number }>>;
}

/** Both ways, as this end knows them: why the other end copied, only that end knows. */
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

export function enterCopy(side: ChannelLedgerSide, reason: ChannelCopyReason, bytes: number): void {
  side.copiedBytes += bytes;
  side.copies[reason] ??= { count: 0, bytes: 0 };
  side.copies[reason].count++;
  side.copies[reason].bytes += bytes;
}
