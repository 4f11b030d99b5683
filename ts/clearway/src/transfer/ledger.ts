// SPDX-License-Identifier: MIT OR Apache-2.0
import type { CopyReason, FoundMemory } from "./find-memory.js";

/** Bytes of binary memory that were sent in one direction. Strings, numbers and plain objects are always copied and never counted. */
export interface LedgerSide {
  /** Bytes that changed owner without a copy. */
  movedBytes: number;
  /** Bytes of shared memory in messages. The same memory counts once per message. */
  sharedBytes: number;
  /** Bytes that were copied; `copies` gives the reasons. */
  copiedBytes: number;
  copies: Partial<Record<CopyReason, { count: number; bytes: number }>>;
}

/** The memory that was sent in both directions: from the caller's thread to the workers, and back. */
export interface Ledger {
  toWorkers: LedgerSide;
  fromWorkers: LedgerSide;
}

export function emptySide(): LedgerSide {
  return { movedBytes: 0, sharedBytes: 0, copiedBytes: 0, copies: {} };
}

/** Adds the memory of a sent value to one side of the ledger. */
export function enter(side: LedgerSide, found: Pick<FoundMemory, "movedBytes" | "sharedBytes" | "copies">): void {
  side.movedBytes += found.movedBytes;
  side.sharedBytes += found.sharedBytes;
  for (const { reason, bytes } of found.copies) enterCopy(side, reason, bytes);
}

export function enterCopy(side: LedgerSide, reason: CopyReason, bytes: number, count = 1): void {
  side.copies[reason] ??= { count: 0, bytes: 0 };
  const entry = side.copies[reason];
  side.copiedBytes += bytes;
  entry.count += count;
  entry.bytes += bytes;
  // Removes the reason when its last copy has been undone.
  if (entry.count === 0) delete side.copies[reason];
}

/** Returns the entry for one value. The caller adds the entry with `merge`, and undoes it if the value is not sent. */
export function entryOf(found: Pick<FoundMemory, "movedBytes" | "sharedBytes" | "copies">): LedgerSide {
  const side = emptySide();
  enter(side, found);
  return side;
}

/** Adds `from` to `into`. With `sign` -1, subtracts `from`, because its value was not sent. */
export function merge(into: LedgerSide, from: LedgerSide, sign: 1 | -1 = 1): void {
  into.movedBytes += sign * from.movedBytes;
  into.sharedBytes += sign * from.sharedBytes;
  for (const [reason, { bytes, count }] of Object.entries(from.copies)) {
    enterCopy(into, reason as CopyReason, sign * bytes, sign * count);
  }
}

export function isEmpty(side: LedgerSide): boolean {
  return side.movedBytes === 0 && side.sharedBytes === 0 && Object.keys(side.copies).length === 0;
}

/** Returns the side as data for a message. Most sides have only moved bytes. Such a side becomes a number, which is cheaper to clone. */
export function onWire(side: LedgerSide): number | LedgerSide {
  return side.sharedBytes === 0 && Object.keys(side.copies).length === 0 ? side.movedBytes : side;
}
