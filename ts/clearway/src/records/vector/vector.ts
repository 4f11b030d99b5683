// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Part } from "../part.js";
import { cannotBeSent, unreadable } from "../refusal.js";

/** One column of one chunk, readable row by row. Rows count from the chunk's first. */
export interface Vector {
  readonly validity: Bitmap | undefined;
  /** The value of a row that is not null. Callers keep `row` inside the chunk. Throws when the memory is gone or malformed. */
  get(row: number): unknown;
  /** A run of rows as the memory itself. */
  part(start: number, rows: number): Part;
}

/** What every vector begins with: whoever sends what reads it is refused before memory is copied. */
export class Unsendable {
  readonly cannotBeSent = cannotBeSent;
}

/** Bits, least significant first. */
export class Bitmap {
  constructor(readonly bytes: Uint8Array) {}

  get(at: number): boolean {
    const byte = this.bytes[at >> 3];
    if (byte === undefined) throw unreadable(this.bytes.buffer, "bits end before their column does");
    return ((byte >> (at & 7)) & 1) === 1;
  }
}

/** The `isNull` of a part. */
export function nullTest(validity: Bitmap | undefined, start: number): (row: number) => boolean {
  return validity === undefined ? () => false : (row) => !validity.get(start + row);
}
