// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Part } from "../part.js";
import { cannotBeSent, unreadable } from "../refusal.js";

/** One column of one chunk, for reading by row. Row numbers count from the chunk's first row. */
export interface Vector {
  readonly validity: Bitmap | undefined;
  /** Returns the value of a non-null row. `row` must be inside the chunk. Throws if the memory is gone or malformed. */
  get(row: number): unknown;
  /** Returns consecutive rows as raw memory. */
  part(start: number, rows: number): Part;
}

/** The base class of all vectors. Structured clone rejects any object that contains a vector, before it copies memory. */
export class Unsendable {
  readonly cannotBeSent = cannotBeSent;
}

/** A sequence of bits, least significant bit of a byte first. */
export class Bitmap {
  constructor(readonly bytes: Uint8Array) {}

  get(at: number): boolean {
    const byte = this.bytes[at >> 3];
    if (byte === undefined) throw unreadable(this.bytes.buffer, "bits end before their column does");
    return ((byte >> (at & 7)) & 1) === 1;
  }
}

/** Returns the `isNull` function of a part that begins at row `start`. */
export function nullTest(validity: Bitmap | undefined, start: number): (row: number) => boolean {
  return validity === undefined ? () => false : (row) => !validity.get(start + row);
}
