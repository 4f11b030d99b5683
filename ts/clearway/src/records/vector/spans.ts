// SPDX-License-Identifier: MIT OR Apache-2.0
import type { BytesPart, CodePart, ListPart, Texts } from "../field.js";
import { malformed, unreadable } from "../refusal.js";
import { decodeUtf8 } from "../values.js";
import { Bitmap, nullTest, Unsendable, type Values, type Vector } from "./vector.js";

/**
 * The start and the end of each row's range in some data.
 *
 * Reads check the offsets. Checking them when the table arrives would take time in proportion to the rows.
 *
 * Offsets must not decrease, so that all values together are no larger than the data. A reader of all rows detects a decrease. A reader
 * that skips null rows or entries of a dictionary may miss a decrease. In such columns the first read therefore checks all offsets. Without
 * this check, one megabyte could claim a hundred thousand texts of half a megabyte each.
 */
export class Spans {
  #unchecked: boolean;

  constructor(
    readonly offsets: Int32Array,
    readonly rows: number,
    /** Whether readers may skip rows. */
    sparse: boolean,
  ) {
    this.#unchecked = sparse;
  }

  start(row: number): number {
    if (this.#unchecked) this.#checkAll();
    const start = this.offsets[row];
    if (start === undefined) throw unreadable(this.offsets.buffer, "a column ends before its table does");
    if (start < 0) throw malformed(`offset ${start} of row ${row} of a chunk is negative`);
    return start;
  }

  /** Returns the end of a row's range. Throws if the end is before `start` or beyond `size`. */
  end(row: number, start: number, size: number): number {
    const end = this.offsets[row + 1];
    if (end === undefined) throw unreadable(this.offsets.buffer, "a column ends before its table does");
    if (end < start) throw malformed(`row ${row} of a chunk ends at ${end}, before it begins at ${start}`);
    if (end > size) throw malformed(`row ${row} of a chunk ends at ${end}, beyond the data's ${size}`);
    return end;
  }

  #checkAll(): void {
    const { offsets, rows } = this;
    let before = 0;
    for (let at = 0; at <= rows; at++) {
      const offset = offsets[at];
      if (offset === undefined) throw unreadable(offsets.buffer, "a column ends before its table does");
      if (offset < before) throw malformed(`offset ${offset} of row ${at} of a chunk is before ${before}`);
      before = offset;
    }
    this.#unchecked = false;
  }
}

/** A vector of byte sequences of any length. A read returns a view. */
export class BytesVector extends Unsendable implements Vector {
  constructor(
    readonly spans: Spans,
    readonly data: Uint8Array,
    readonly validity: Bitmap | undefined,
  ) {
    super();
  }

  get(row: number): unknown {
    const { spans, data } = this;
    const start = spans.start(row);
    return data.subarray(start, spans.end(row, start, data.length));
  }

  part(start: number, rows: number): BytesPart {
    const { spans, data, validity } = this;
    return {
      length: rows,
      offsets: spans.offsets.subarray(start, start + rows + 1),
      data,
      isNull: nullTest(validity, start),
    };
  }
}

/** A vector of texts. Each read decodes the text. */
export class TextVector extends BytesVector {
  override get(row: number): string {
    const { spans, data } = this;
    const start = spans.start(row);
    return decodeUtf8(data, start, spans.end(row, start, data.length));
  }
}

/** A vector of lists of numbers or booleans. For numbers, a read returns a view. For booleans, it returns a new array. */
export class ListVector extends Unsendable implements Vector {
  readonly #size: number;

  constructor(
    readonly spans: Spans,
    readonly items: Values | Bitmap,
    readonly validity: Bitmap | undefined,
  ) {
    super();
    this.#size = items instanceof Bitmap ? items.bytes.length * 8 : items.length;
  }

  get(row: number): unknown {
    const { items, spans } = this;
    const start = spans.start(row);
    const end = spans.end(row, start, this.#size);
    if (!(items instanceof Bitmap)) return items.subarray(start, end);
    return Array.from({ length: end - start }, (_, at) => items.get(start + at));
  }

  part(start: number, rows: number): ListPart<unknown> {
    const { spans, items, validity } = this;
    return {
      length: rows,
      offsets: spans.offsets.subarray(start, start + rows + 1),
      values: items instanceof Bitmap ? items.bytes : items,
      isNull: nullTest(validity, start),
    };
  }
}

/** A vector of lists of texts. Each read decodes the texts into a new array. */
export class TextListVector extends Unsendable implements Vector {
  constructor(
    readonly spans: Spans,
    readonly texts: TextVector,
    readonly validity: Bitmap | undefined,
  ) {
    super();
  }

  get(row: number): string[] {
    const { texts, spans } = this;
    const start = spans.start(row);
    const end = spans.end(row, start, texts.spans.rows);
    return Array.from({ length: end - start }, (_, at) => texts.get(start + at));
  }

  part(start: number, rows: number): ListPart<Texts> {
    const { spans, texts, validity } = this;
    return {
      length: rows,
      offsets: spans.offsets.subarray(start, start + rows + 1),
      values: { offsets: texts.spans.offsets, data: texts.data },
      isNull: nullTest(validity, start),
    };
  }
}

/** A vector of texts, stored as codes into a dictionary. The first read of each text in a chunk decodes the text. */
export class CodeVector extends Unsendable implements Vector {
  #decoded: (string | undefined)[] = [];
  readonly #entries: number;
  #allTexts: readonly string[] | undefined;

  constructor(
    readonly codes: Int32Array,
    readonly texts: TextVector,
    readonly validity: Bitmap | undefined,
  ) {
    super();
    this.#entries = texts.spans.rows;
  }

  get(row: number): string {
    const code = this.codes[row];
    if (code === undefined) throw unreadable(this.codes.buffer, "a column ends before its table does");
    return this.#decoded[code] ?? this.#decode(code);
  }

  part(start: number, rows: number): CodePart {
    const { codes, validity } = this;
    const allTexts = (): readonly string[] => {
      this.#allTexts ??= Array.from({ length: this.#entries }, (_, code) => this.#decoded[code] ?? this.#decode(code));
      return this.#allTexts;
    };
    return {
      length: rows,
      codes: codes.subarray(start, start + rows),
      get dictionary() {
        return allTexts();
      },
      isNull: nullTest(validity, start),
    };
  }

  #decode(code: number): string {
    if (!(code >= 0 && code < this.#entries)) {
      throw malformed(`code ${code} is not in its dictionary of ${this.#entries} texts`);
    }
    // Allocates the array at full length, because engines turn an array that grows with holes into a slow hash table.
    if (this.#decoded.length === 0) this.#decoded = new Array(this.#entries);
    const text = this.texts.get(code);
    this.#decoded[code] = text;
    return text;
  }
}
