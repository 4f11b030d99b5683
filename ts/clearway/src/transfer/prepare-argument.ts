// SPDX-License-Identifier: MIT OR Apache-2.0
import { findMemory, searchLimit } from "./find-memory.js";
import { movedKey, type PreparedValue, scope } from "./hooks.js";
import { enterCopy, type LedgerSide } from "./ledger.js";
import { MovedValue, transferOf } from "./move.js";
import { wouldCopy } from "./refusal.js";

/**
 * Prepares a value that leaves the caller. Memory under `move()` will move; all other memory will be copied. Records both in `side`. The
 * move and the copies happen later, when the value is posted.
 *
 * If `strict` is true and memory would be copied, throws `would-copy` and records nothing.
 */
export function prepareValue(value: unknown, strict: boolean, side: LedgerSide): PreparedValue {
  const handled = scope[movedKey]?.argument(value, strict, side);
  if (handled) return handled;
  if (value instanceof MovedValue) {
    const { transfer, movedBytes, sharedBytes, deep } = transferOf(value, searchLimit);
    side.movedBytes += movedBytes;
    side.sharedBytes += sharedBytes;
    return { value: value.value, transfer, bytes: movedBytes, deep };
  }
  const found = findMemory(value, searchLimit);
  const bytes = found.copies.reduce((sum, copy) => sum + copy.bytes, found.movedBytes);
  if (bytes > 0) {
    if (strict) throw wouldCopy("argument-not-moved", bytes);
    enterCopy(side, "argument-not-moved", bytes);
  }
  side.sharedBytes += found.sharedBytes;
  return { value, transfer: [], bytes, deep: found.deep };
}
