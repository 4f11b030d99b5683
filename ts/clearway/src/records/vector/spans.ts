// SPDX-License-Identifier: MIT OR Apache-2.0
import type { BytesPart, ListPart } from "../part.js";
import { malformed, unreadable } from "../refusal.js";
import { decodeUtf8 } from "../utf8.js";
import type { Values } from "./numbers.js";
import { Bitmap, nullTest, type Vector } from "./vector.js";

/**
 * Where each row's share of some data begins and ends. What the offsets say is checked when they are read, not when a
 * table arrives: that would take as long as the table is.
 */
export class Spans {
  constructor(
    readonly offsets: Int32Array,
    /** How much data there is. */
    readonly size: number,
  ) {}

  start(row: number): number {
    const start = this.offsets[row];
    if (start === undefined) throw unreadable(this.offsets.buffer, "a column ends before its table does");
    if (start < 0) throw malformed(`offset ${start} of row ${row} of a chunk is negative`);
    return start;
  }

  end(row: number, start: number): number {
    const end = this.offsets[row + 1];
    if (end === undefined) throw unreadable(this.offsets.buffer, "a column ends before its table does");
    if (end < start) throw malformed(`row ${row} of a chunk ends at ${end}, before it begins at ${start}`);
    if (end > this.size) throw malformed(`row ${row} of a chunk ends at ${end}, beyond the data's ${this.size}`);
    return end;
  }
}

/** Bytes of any length. A row reads as a view. */
export class BytesVector implements Vector {
  protected readonly spans: Spans;

  constructor(
    readonly offsets: Int32Array,
    readonly data: Uint8Array,
    readonly validity: Bitmap | undefined,
  ) {
    this.spans = new Spans(offsets, data.length);
  }

  get(row: number): unknown {
    const start = this.spans.start(row);
    return this.data.subarray(start, this.spans.end(row, start));
  }

  part(start: number, rows: number): BytesPart {
    const { offsets, data, validity } = this;
    return {
      length: rows,
      offsets: offsets.subarray(start, start + rows + 1),
      data,
      isNull: nullTest(validity, start),
    };
  }
}

/** Text, decoded each time that it is read. */
export class TextVector extends BytesVector {
  override get(row: number): string {
    const start = this.spans.start(row);
    return decodeUtf8(this.data, start, this.spans.end(row, start));
  }
}

/** Lists of numbers or booleans. Numbers read as a view. */
export class ListVector implements Vector {
  readonly #spans: Spans;

  constructor(
    readonly offsets: Int32Array,
    readonly items: Values | Bitmap,
    readonly validity: Bitmap | undefined,
  ) {
    this.#spans = new Spans(offsets, items instanceof Bitmap ? items.bytes.length * 8 : items.length);
  }

  get(row: number): unknown {
    const { items } = this;
    const start = this.#spans.start(row);
    const end = this.#spans.end(row, start);
    if (!(items instanceof Bitmap)) return items.subarray(start, end);
    return Array.from({ length: end - start }, (_, at) => items.get(start + at));
  }

  part(start: number, rows: number): ListPart<unknown> {
    const { offsets, items, validity } = this;
    return {
      length: rows,
      offsets: offsets.subarray(start, start + rows + 1),
      values: items instanceof Bitmap ? items.bytes : items,
      isNull: nullTest(validity, start),
    };
  }
}
