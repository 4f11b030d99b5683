// SPDX-License-Identifier: MIT OR Apache-2.0

/** Why memory was copied at the boundary. */
export type NativeCopyReason =
  /** The other side gave bytes that are in no memory of their own. They are copied into the queue. */
  | "no-memory"
  /** Fewer than 4096 bytes, so that copying them costs less than lending them. */
  | "small"
  /** This Node cannot keep an ArrayBuffer's memory while native code has it (an untested version). */
  | "not-kept"
  /** The ArrayBuffer is resizable: JavaScript could shrink it while native code has it. */
  | "resizable"
  /** This runtime allows no views of native memory (Electron, or `views: "copied"`). */
  | "not-viewed";

/** Bytes that crossed in one direction. */
export interface NativeLedgerSide {
  /** Bytes that both sides saw at the same time: shared, or lent for the duration of a call. */
  sharedBytes: number;
  /** Bytes that changed owner without a copy: native memory viewed by an ArrayBuffer. */
  movedBytes: number;
  /** Bytes that were copied; `copies` has the reasons. */
  copiedBytes: number;
  copies: Partial<Record<NativeCopyReason, { count: number; bytes: number }>>;
}

/** Both directions. A snapshot: it does not change afterwards. */
export interface NativeLedger {
  toNative: NativeLedgerSide;
  fromNative: NativeLedgerSide;
}

export const emptySide = (): NativeLedgerSide => ({ sharedBytes: 0, movedBytes: 0, copiedBytes: 0, copies: {} });

export function enterCopy(side: NativeLedgerSide, reason: NativeCopyReason, bytes: number): void {
  side.copiedBytes += bytes;
  side.copies[reason] ??= { count: 0, bytes: 0 };
  side.copies[reason].count++;
  side.copies[reason].bytes += bytes;
}

const copyOf = (side: NativeLedgerSide): NativeLedgerSide => structuredClone(side);

export const snapshot = (ledger: NativeLedger): NativeLedger => ({
  toNative: copyOf(ledger.toNative),
  fromNative: copyOf(ledger.fromNative),
});
