// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError } from "../error/clearway-error.js";
import type { SearchOptions } from "./find-memory.js";
import { emptySide, type LedgerSide, merge } from "./ledger.js";
import { prepareValue } from "./prepare-argument.js";
import type { PreparedValue } from "./revive.js";

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
