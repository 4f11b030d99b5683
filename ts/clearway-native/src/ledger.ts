// SPDX-License-Identifier: MIT OR Apache-2.0

/** The reason why bytes were copied between JavaScript and native code. */
export type NativeCopyReason =
  /** The plugin sent bytes that are not in a memory that Clearway manages. Clearway's native library copied them into its queue. */
  | "no-memory"
  /** The message has fewer than 4096 bytes. Copying them costs less than lending them. */
  | "small"
  /**
   * The addon cannot keep an ArrayBuffer's memory for native code. It was not tested with this version of Node, or it was built without a
   * C++ compiler.
   */
  | "not-kept"
  /**
   * Native code may use the bytes for longer than their owner waits: the message of a call with a signal, or the arguments of a stream. To
   * avoid the copy, lend the bytes with the plugin's `lend`.
   */
  | "may-outlive"
  /** The ArrayBuffer is resizable, so JavaScript could shrink it while native code uses it. */
  | "resizable"
  /** JavaScript cannot view native memory: the runtime does not allow it (Electron), or the option is `views: "copied"`. */
  | "not-viewed";

/** The numbers of bytes that were sent in one direction. */
export interface NativeLedgerSide {
  /** The number of bytes that both sides could see at the same time, because their memory was shared or lent. */
  sharedBytes: number;
  /** The number of bytes that changed their owner without a copy: native memory that JavaScript sees as a detachable `ArrayBuffer`. */
  movedBytes: number;
  /** The number of bytes that were copied. */
  copiedBytes: number;
  /** The number of copies and their bytes, by reason. */
  copies: Partial<Record<NativeCopyReason, { count: number; bytes: number }>>;
}

/** The ledgers of both directions. A ledger in a plugin's `stats()` is a copy, which does not change afterwards. */
export interface NativeLedger {
  toNative: NativeLedgerSide;
  fromNative: NativeLedgerSide;
}

export const emptySide = (): NativeLedgerSide => ({ sharedBytes: 0, movedBytes: 0, copiedBytes: 0, copies: {} });

/** Enters a copy of `bytes` bytes into the ledger. */
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
