// SPDX-License-Identifier: MIT OR Apache-2.0

import { ClearwayError } from "../error/clearway-error.js";
import { checkDepth } from "../error/depth.js";
import { Form, isTable } from "./crossing.js";
import { type FoundMemory, findMemory, type SearchOptions, searchLimit } from "./find-memory.js";
import { emptySide, enterCopy, type LedgerSide, merge } from "./ledger.js";
import { MovedValue, transferOf } from "./move.js";
import { wouldCopy } from "./refusal.js";
import { movedKey, type PreparedValue, scope } from "./revive.js";

/**
 * Prepares a value that leaves the caller. Memory under `move()` will move; all other memory will be copied. Records both in `side`. The
 * move and the copies happen later, when the value is posted.
 *
 * Arguments of one call have `shared` in common: an object in several of them stays one object. If `strict` is true and memory would be
 * copied, throws `would-copy` and records nothing.
 */
export function prepareValue(
  value: unknown,
  strict: boolean,
  side: LedgerSide,
  shared?: SearchOptions["shared"],
): PreparedValue {
  const handled = scope[movedKey]?.argument(value, strict, side);
  if (handled) return handled;
  if (value instanceof MovedValue) {
    const form = isTable(value.value) ? Form.table : Form.plain;
    return preparedMove(value, form, strict, side, shared);
  }
  const form = isTable(value) ? Form.table : Form.plain;
  const found = findMemory(value, searchLimit, { shared });
  const bytes = found.copies.reduce((sum, copy) => sum + copy.bytes, found.movedBytes);
  if (bytes > 0) {
    if (strict) throw wouldCopy("argument-not-moved", bytes);
    enterCopy(side, "argument-not-moved", bytes);
  }
  side.sharedBytes += found.sharedBytes;
  return { form, value: found.value, transfer: [], bytes, deep: found.deep };
}

/** Prepares a value under `move()`, as {@link prepareValue} does. `form` says how the other side reads it. */
export function preparedMove(
  moved: MovedValue,
  form: Form,
  strict: boolean,
  side: LedgerSide,
  shared?: SearchOptions["shared"],
): PreparedValue {
  const { movedBytes, sharedBytes, copies, ...ready } = transferOf(moved, searchLimit, strict, shared);
  side.movedBytes += movedBytes;
  side.sharedBytes += sharedBytes;
  for (const { reason, bytes } of copies) enterCopy(side, reason, bytes);
  return { ...ready, form, bytes: copies.reduce((sum, { bytes }) => sum + bytes, movedBytes) };
}

/**
 * Prepares a value that leaves for another process, as {@link prepareValue} does for another thread. All memory in it will be copied. The
 * caller nevertheless loses the memory under `move()`. If `strict` is true and the value has memory, throws `would-copy` and records
 * nothing.
 */
export function prepareForProcess(
  value: unknown,
  strict: boolean,
  side: LedgerSide,
  shared?: SearchOptions["shared"],
): PreparedValue {
  const entry = emptySide();
  const ready = prepareValue(value, false, entry, shared);
  becomeCopies(entry, strict);
  merge(side, entry);
  return ready;
}

/**
 * Changes the entry of a value that crosses to another process, where all memory is copied for that one reason. Throws `would-copy` under
 * `strict`.
 */
export function becomeCopies(entry: LedgerSide, strict: boolean): void {
  const bytes = entry.movedBytes + entry.copiedBytes;
  if (bytes === 0) return;
  if (strict) {
    const what = `strict: ${bytes} bytes would have been copied (other-process)`;
    throw new ClearwayError(
      "would-copy",
      `${what}: the worker is a child process, and nothing moves between processes`,
    );
  }
  const copies = Object.values(entry.copies).reduce((sum, each) => sum + each.count, 0);
  const count = copies + (entry.movedBytes > 0 ? 1 : 0);
  entry.movedBytes = 0;
  entry.copiedBytes = bytes;
  entry.copies = { "other-process": { count, bytes } };
}

/** A value ready to be posted, and the objects to move with it. */
export interface PreparedResult extends Omit<FoundMemory, "compacted"> {}

/**
 * Prepares a task's result for posting.
 *
 * For a value under `move()`, finds the objects to move, or throws `would-copy`; visits at most `limit` nodes, or 10,000 if that is more.
 * For any other value, calls {@link findMovable} with `limit`.
 * Throws `not-cloneable` if the value is too deep for the other side to read.
 */
export function prepareResult(result: unknown, limit = searchLimit): PreparedResult {
  const encoded = scope[movedKey]?.encoded(result);
  const value = encoded ?? result;
  const moved = value instanceof MovedValue ? value : undefined;
  const form = encoded !== undefined ? Form.handled : isTable(moved ? moved.value : value) ? Form.table : Form.plain;
  const prepared: PreparedResult = moved
    ? { ...transferOf(moved, Math.max(limit, searchLimit), false), form, graph: undefined }
    : findMovable(value, limit);
  prepared.form = form;
  if (prepared.deep) checkDepth(prepared.value);
  return prepared;
}

/** Finds everything in a task's result that moves (see {@link findMemory}), with the compact copies of views. */
export function findMovable(value: unknown, limit = searchLimit): FoundMemory {
  const found = findMemory(value, limit);
  if (found.compacted.length > 0) found.transfer.push(...found.compacted);
  return found;
}
