// SPDX-License-Identifier: MIT OR Apache-2.0
import { iteratorOf } from "../stream/producer.js";
import { find, searchLimit } from "../transfer/find.js";
import { emptySide, enterCopy, type LedgerSide } from "../transfer/ledger.js";
import { MovedValue, transferOf } from "../transfer/move.js";
import { wouldCopy } from "../transfer/refusal.js";

type AnyIterator = NonNullable<ReturnType<typeof iteratorOf>>;

/** A call's arguments, ready to leave. */
export interface Prepared {
  args: unknown[];
  /** What moves with them. */
  transfer: object[];
  /** Bytes of binary memory in them, moved or copied. */
  bytes: number;
  /** Arguments that are streams from the caller: their places and iterators. */
  feeds: { argument: number; iterator: AnyIterator }[] | undefined;
  moved: boolean;
  /** What to enter in the ledger when they leave; a call that never leaves crosses nothing. */
  crossing: LedgerSide | undefined;
}

const none: object[] = [];

/**
 * Looks at the arguments of a call: takes moved ones out of `move()`, opens streams, and counts what will be moved and
 * copied. Throws `would-copy` under `strict`. Moves nothing yet.
 */
export function prepareArguments(args: unknown[], strict: boolean): Prepared {
  const prepared: Prepared = { args, transfer: none, bytes: 0, feeds: undefined, moved: false, crossing: undefined };
  for (let at = 0; at < args.length; at++) {
    const value = args[at];
    if (value === null || typeof value !== "object") continue;
    if (prepared.args === args) prepared.args = args.slice();
    if (!(value instanceof MovedValue) && Symbol.asyncIterator in value) {
      prepared.feeds ??= [];
      prepared.feeds.push({ argument: at, iterator: iteratorOf(value)! });
      prepared.args[at] = undefined;
    } else {
      prepared.crossing ??= emptySide();
      const ready = prepareValue(value, strict, prepared.crossing);
      prepared.args[at] = ready.value;
      prepared.bytes += ready.bytes;
      if (value instanceof MovedValue) {
        prepared.transfer = prepared.transfer.concat(ready.transfer);
        prepared.moved = true;
      }
    }
  }
  return prepared;
}

/**
 * Looks at one value that leaves the caller: what is under `move()` moves, the rest is copied. Enters it in `side`. Throws
 * `would-copy`, having entered nothing.
 */
export function prepareValue(value: unknown, strict: boolean, side: LedgerSide) {
  if (value instanceof MovedValue) {
    const { transfer, movedBytes, sharedBytes } = transferOf(value, searchLimit);
    side.movedBytes += movedBytes;
    side.sharedBytes += sharedBytes;
    return { value: value.value, transfer, bytes: movedBytes };
  }
  const found = find(value, searchLimit);
  const bytes = found.copies.reduce((sum, copy) => sum + copy.bytes, found.movedBytes);
  if (bytes > 0) {
    if (strict) throw wouldCopy("argument-not-moved", bytes);
    enterCopy(side, "argument-not-moved", bytes);
  }
  side.sharedBytes += found.sharedBytes;
  return { value, transfer: none, bytes };
}

/**
 * Takes what is moved away from its owner at once, for a call that has to wait: `move` promises that the sender loses it
 * when it calls, not at some later time. Moves into objects of this thread. What is not moved is copied here, and the copy,
 * which is nobody else's, moves when the call leaves: one copy, as the ledger says.
 */
export function detach(prepared: Prepared): void {
  if (prepared.transfer.length === 0) return;
  const { args, transfer } = structuredClone(
    { args: prepared.args, transfer: prepared.transfer },
    { transfer: prepared.transfer as Transferable[] },
  );
  const { transfer: own, partial } = find(args, searchLimit);
  prepared.args = args;
  prepared.transfer = [...new Set([...transfer, ...own, ...partial.map((view) => view.buffer)])];
}
