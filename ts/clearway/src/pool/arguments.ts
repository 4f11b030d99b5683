// SPDX-License-Identifier: MIT OR Apache-2.0
import { find, searchLimit } from "../transfer/find.js";
import { emptySide, enterCopy, type LedgerSide } from "../transfer/ledger.js";
import { MovedValue, transferOf } from "../transfer/move.js";
import { wouldCopy } from "../transfer/refusal.js";
import { Input } from "./input.js";
import type { PoolCall } from "./pool-call.js";

/** A value, ready to leave. */
interface Ready {
  value: unknown;
  /** What moves with it. */
  transfer: object[];
  /** Bytes of binary memory in it, moved or copied. */
  bytes: number;
  /** May be nested too deep to be read in a worker. */
  deep: boolean;
}

/**
 * Makes a call's arguments ready to leave: takes moved ones out of `move()`, opens streams, and counts what will be moved
 * and copied. Throws `would-copy` under `strict`. Moves nothing yet; copies the list where it changes it.
 */
export function prepareArguments(call: PoolCall): void {
  const { args } = call;
  for (let at = 0; at < args.length; at++) {
    const value = args[at];
    if (value === null || typeof value !== "object") continue;
    if (call.args === args) call.args = args.slice();
    if (!(value instanceof MovedValue) && Symbol.asyncIterator in value) {
      call.inputs ??= [];
      call.inputs.push(new Input(at, (value as AsyncIterable<unknown, unknown, void>)[Symbol.asyncIterator]()));
      call.args[at] = undefined;
    } else {
      call.crossing ??= emptySide();
      const ready = prepareValue(value, call.options.strict, call.crossing);
      call.args[at] = ready.value;
      call.bytes += ready.bytes;
      if (ready.deep) call.deep = true;
      if (ready.transfer.length > 0) call.transfer = call.transfer.concat(ready.transfer);
    }
  }
}

/**
 * Looks at one value that leaves the caller: what is under `move()` moves, the rest is copied. Enters it in `side`. Throws
 * `would-copy`, having entered nothing.
 */
export function prepareValue(value: unknown, strict: boolean, side: LedgerSide): Ready {
  if (value instanceof MovedValue) {
    const { transfer, movedBytes, sharedBytes, deep } = transferOf(value, searchLimit);
    side.movedBytes += movedBytes;
    side.sharedBytes += sharedBytes;
    return { value: value.value, transfer, bytes: movedBytes, deep };
  }
  const found = find(value, searchLimit);
  const bytes = found.copies.reduce((sum, copy) => sum + copy.bytes, found.movedBytes);
  if (bytes > 0) {
    if (strict) throw wouldCopy("argument-not-moved", bytes);
    enterCopy(side, "argument-not-moved", bytes);
  }
  side.sharedBytes += found.sharedBytes;
  return { value, transfer: [], bytes, deep: found.deep };
}

/**
 * Takes what is moved away from its owner at once, for a call that has to wait: `move` promises that the sender loses it
 * when it calls, not at some later time. Moves into objects of this thread. What is not moved is copied here, and the copy,
 * which is nobody else's, moves when the call leaves: one copy, as the ledger says.
 */
export function detach(call: PoolCall): void {
  if (call.transfer.length === 0) return;
  const { args, transfer } = structuredClone(
    { args: call.args, transfer: call.transfer },
    { transfer: call.transfer as Transferable[] },
  );
  const { transfer: own, partial } = find(args, searchLimit);
  call.args = args;
  call.transfer = [...new Set([...transfer, ...own, ...partial.map((view) => view.buffer)])];
}
