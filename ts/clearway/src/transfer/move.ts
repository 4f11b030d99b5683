// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError, invalid } from "../error/clearway-error.js";
import { totalBufferBytes } from "../host/tag.js";
import { type CopyReason, type FoundMemory, findMemory, type SearchOptions } from "./find-memory.js";
import { movedKey } from "./revive.js";

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
    return (value as { [movedKey]?: true } | null | undefined)?.[movedKey] === true;
  }
}

/**
 * Marks a value to be moved. The sender loses every buffer, port and stream in the value, at any depth. Clearway copies none of them.
 *
 * A view of a part of a larger buffer, such as most small `Buffer`s of Node, cannot move without its neighbours. Clearway copies exactly that
 * part, and the ledger records the reason `partial-view`; the sender keeps it. Under `strict`, the send fails with `would-copy`. It fails, too,
 * if the value contains other memory that cannot be moved.
 *
 * With `transfer`, Clearway moves exactly these objects, and copies all other memory. Use `transfer` for values with very many nodes, or to
 * move a whole buffer if the value shows only a part of it. Throws `invalid-argument` if `transfer` is not an array of objects.
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
  "search-limit": "It is beyond 10,000 nodes. List its buffers: move(value, [buffer])",
};

/**
 * Returns a moved value and the objects to transfer. Searches at most `limit` nodes for memory that moves. Throws `would-copy` if there is
 * memory that cannot move; under `strict`, also for a part of a larger buffer.
 */
export function transferOf(
  moved: MovedValue,
  limit: number,
  strict: boolean,
  shared?: SearchOptions["shared"],
): MovedMemory {
  const listed = moved.transfer;
  const found = findMemory(moved.value, limit, { listed, shared });
  if (listed) {
    const movedBytes = totalBufferBytes(listed);
    return { value: found.value, transfer: [...listed], movedBytes, sharedBytes: 0, deep: true, copies: [] };
  }
  const copy = found.copies.find(({ reason }) => strict || reason !== "partial-view");
  if (copy === undefined) {
    found.transfer.push(...found.compacted);
    return found;
  }
  const { reason, bytes } = copy;
  const remedy = remedies[reason] ?? "Pass a copy: move(new Uint8Array(memory))";
  throw new ClearwayError("would-copy", `move() cannot move all of it: ${reason} (${bytes} bytes). ${remedy}`);
}
