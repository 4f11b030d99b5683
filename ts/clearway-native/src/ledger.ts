// SPDX-License-Identifier: MIT OR Apache-2.0

/** The reason for a copy of memory at the boundary. */
export type NativeCopyReason =
  /** The other side gave bytes outside of a native memory. They are copied into the queue. */
  | "no-memory"
  /** The message has fewer than 4096 bytes. Copying them costs less than lending them. */
  | "small"
  /** This version of Node cannot keep an ArrayBuffer's memory for native code, because the version is untested. */
  | "not-kept"
  /** The ArrayBuffer is resizable, so JavaScript could shrink it while native code uses it. */
  | "resizable"
  /** This runtime allows no views of native memory (Electron, or `views: "copied"`). */
  | "not-viewed";

/** The bytes that crossed in one direction. */
export interface NativeLedgerSide {
  /** Bytes that both sides saw at the same time: shared, or lent during a call. */
  sharedBytes: number;
  /** Bytes that changed owner without a copy: an ArrayBuffer over native memory. */
  movedBytes: number;
  /** Bytes that were copied; `copies` has the reasons. */
  copiedBytes: number;
  copies: Partial<Record<NativeCopyReason, { count: number; bytes: number }>>;
}

/** The ledgers of both directions. A snapshot, which does not change afterwards. */
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
