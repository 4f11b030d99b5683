// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError, invalid } from "../error/clearway-error.js";
import { bufferBytes, find } from "./find.js";

declare const movedBrand: unique symbol;

/**
 * A value under {@link move}. Only Clearway unwraps it, and only where it stands as an argument, a result or a yielded
 * value itself: inside another object it makes the call fail with `not-cloneable`, rather than be copied unseen.
 */
export interface Moved<T> {
  readonly [movedBrand]: T;
}

const brand = Symbol.for("clearway.moved");

/** What is under a {@link Moved}. */
export class MovedValue {
  readonly value: unknown;
  readonly transfer: readonly object[] | undefined;
  // A function is what makes structured clone refuse a stray Moved inside another object.
  readonly mustBeAnArgumentItself = (): void => {};

  constructor(value: unknown, transfer: readonly object[] | undefined) {
    this.value = value;
    this.transfer = transfer;
  }

  static {
    Object.defineProperty(MovedValue.prototype, brand, { value: true });
  }

  // `move` stands in two entries that are bundled apart; either marks for both.
  static [Symbol.hasInstance](value: unknown): boolean {
    return (value as { [brand]?: true } | null | undefined)?.[brand] === true;
  }
}

/**
 * Marks a value to be moved: the sender loses every buffer, port and stream inside it, at any depth, and nothing of
 * them is copied. Throws `would-copy` where something inside cannot be moved and would have to be copied.
 *
 * With `transfer`, exactly those objects are moved and the search is skipped; use it for values with very many nodes, or
 * to move a whole buffer of which the value shows only a part. Throws `invalid-argument` where that is no array of objects.
 */
export function move<T>(value: T, transfer?: readonly object[]): Moved<T> {
  if (transfer !== undefined && !(Array.isArray(transfer) && transfer.every((each) => Object(each) === each)))
    throw invalid("transfer", "an array of objects", transfer);
  return new MovedValue(value, transfer) as unknown as Moved<T>;
}

/** The objects to transfer for a moved value. Throws `would-copy` where the search finds memory that cannot move. */
export function transferOf(
  moved: MovedValue,
  limit: number,
): { transfer: object[]; movedBytes: number; sharedBytes: number; deep: boolean } {
  if (moved.transfer) {
    return { transfer: [...moved.transfer], movedBytes: bufferBytes(moved.transfer), sharedBytes: 0, deep: true };
  }
  const found = find(moved.value, limit);
  const copy = found.copies[0];
  if (!copy) return found;
  throw new ClearwayError(
    "would-copy",
    `move() cannot move all of this value: ${copy.reason} (${copy.bytes} bytes). ` +
      "Slice the part out, or name what to move: move(value, [buffer]).",
  );
}
