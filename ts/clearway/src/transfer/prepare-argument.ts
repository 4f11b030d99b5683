// SPDX-License-Identifier: MIT OR Apache-2.0
import { Form } from "./coded.js";
import { isTable } from "./crossing.js";
import { findMemory, type SearchOptions, searchLimit } from "./find-memory.js";
import { enterCopy, type LedgerSide } from "./ledger.js";
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
