// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError, invalid, isBranded } from "../error/clearway-error.js";
import { checkDepth } from "../error/depth.js";
import { totalBufferBytes } from "../host/structure.js";
import { Form, isTable } from "./crossing.js";
import { type CopyReason, type FoundMemory, findMemory, type SearchOptions, searchLimit } from "./find-memory.js";
import { emptySide, enterCopy, type LedgerSide, merge } from "./ledger.js";
import { wouldCopy } from "./refusal.js";
import { movedKey, type PreparedValue, scope } from "./revive.js";

declare const movedBrand: unique symbol;

/**
 * A value that {@link move} has marked. Clearway unwraps it only if it is itself an argument, a result or a yielded value. If it is inside
 * another object, the call fails with `not-cloneable`. Without this error, the value would be copied unnoticed.
 */
export interface Moved<T> {
  readonly [movedBrand]: T;
}

/** The value inside a {@link Moved}. */
export class MovedValue {
  readonly [movedKey] = true;
  readonly value: unknown;
  readonly transfer: readonly object[] | undefined;
  // Structured clone rejects functions. Because of this property, it rejects a MovedValue inside another object. The error names the property.
  readonly "move() marks an argument itself" = (): void => {};

  constructor(value: unknown, transfer: readonly object[] | undefined) {
    this.value = value;
    this.transfer = transfer;
  }

  // Two entries of the package are bundled separately, and both contain `move`. The brand lets each entry accept values of the other.
  static [Symbol.hasInstance](value: unknown): boolean {
    return isBranded(value, movedKey);
  }
}

/**
 * Marks a value to be moved. The sender loses every buffer, port and stream in the value, at any depth. Clearway copies none of them.
 *
 * A view of a part of a larger buffer, such as most small `Buffer`s of Node, cannot move without its neighbours. Clearway copies exactly that
 * part, and the ledger records the reason `partial-view`; the sender keeps it. Under `strict`, the send fails with `would-copy`. It fails, too,
 * if the value contains other memory that cannot be moved.
 *
 * With `transfer`, Clearway moves exactly these objects, and copies all other memory: the ledger records the reason `not-listed`, and under
 * `strict` the send fails with `would-copy`. Use `transfer` for values with very many nodes, or to move a whole buffer if the value shows
 * only a part of it. Throws `invalid-argument` if `transfer` is not an array of objects.
 */
export function move<T>(value: T, transfer?: readonly object[]): Moved<T> {
  if (transfer !== undefined && !(Array.isArray(transfer) && transfer.every((each) => Object(each) === each)))
    throw invalid("transfer", "an array of objects", transfer);
  return new MovedValue(value, transfer) as unknown as Moved<T>;
}

/** A value under {@link move}, ready to be posted. */
interface MovedMemory {
  /** The value to post. Views of a part of a buffer that does not move have only their own bytes. */
  value: unknown;
  transfer: object[];
  movedBytes: number;
  sharedBytes: number;
  deep: boolean;
  /** The parts of larger buffers, which are copied. */
  copies: FoundMemory["copies"];
}

/** What to do instead of a copy, by its reason. */
const remedies: Partial<Record<CopyReason, string>> = {
  "partial-view": "It is a part of a larger buffer. Copy the part: move(new Uint8Array(part))",
  "not-listed": "List its buffers: move(value, [buffer])",
  "search-limit": "It is beyond 10,000 nodes. List its buffers: move(value, [buffer])",
};

/**
 * Returns a moved value and the objects to transfer. Searches at most `limit` nodes for memory that moves. Throws `would-copy` if there is
 * memory that cannot move; under `strict`, also for a part of a larger buffer, and for memory that a list of objects leaves out.
 */
export function transferOf(
  moved: MovedValue,
  limit: number,
  strict: boolean,
  shared?: SearchOptions["shared"],
): MovedMemory {
  const listed = moved.transfer;
  const found = findMemory(moved.value, limit, { listed, shared });
  const copy = found.copies.find(({ reason }) => strict || !(listed || reason === "partial-view"));
  if (copy === undefined) {
    found.transfer.push(...(listed ?? found.compacted));
    if (listed) found.movedBytes = totalBufferBytes(listed);
    return found;
  }
  const { reason, bytes } = copy;
  const remedy = remedies[reason] ?? "Pass a copy: move(new Uint8Array(memory))";
  throw new ClearwayError("would-copy", `move() cannot move all of it: ${reason} (${bytes} bytes). ${remedy}`);
}

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
 * Adds the objects that an argument moves to those of the arguments before it. Two arguments may show one buffer: it moves once, and counts
 * once in `side`.
 */
export function addTransfer(earlier: readonly object[], transfer: readonly object[], side?: LedgerSide): object[] {
  const known = new Set(earlier);
  if (side) side.movedBytes -= totalBufferBytes(transfer.filter((each) => known.has(each)));
  return [...earlier, ...transfer.filter((each) => !known.has(each))];
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
