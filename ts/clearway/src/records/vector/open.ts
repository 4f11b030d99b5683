// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Part } from "../field.js";
import { alignmentMin, bufferCountAt, directoryAt, entryBytes, magic, magicAt, rowsAt } from "../layout.js";
import { malformed, shown } from "../refusal.js";
import { type RowClass, rowClass } from "../row.js";
import type { ItemKind, Shape } from "../shape.js";
import { BytesVector, CodeVector, ListVector, Spans, TextListVector, TextVector } from "./spans.js";
import {
  arrays,
  Bitmap,
  BitVector,
  nullTest,
  numberVector,
  TimeVector,
  Unsendable,
  type Values,
  type Vector,
} from "./vector.js";

/** A vector of structs, which are columns inside a column. Each read returns a new row object. */
export class StructVector extends Unsendable implements Vector {
  constructor(
    readonly columns: readonly Vector[],
    readonly Row: RowClass,
    readonly validity: Bitmap | undefined,
  ) {
    super();
  }

  get(row: number): unknown {
    return new this.Row(this.columns, row);
  }

  part(start: number, rows: number): Part {
    return { length: rows, isNull: nullTest(this.validity, start) };
  }
}

/** Returns the number of rows from a chunk's header. Takes O(1), because it runs for every chunk that arrives. Throws `protocol`. */
export function readHeader(data: ArrayBuffer, expected: number): number {
  if (data.byteLength < directoryAt) throw malformed(`a chunk of ${data.byteLength} bytes has no header`);
  const header = new DataView(data);
  if (header.getUint32(magicAt, true) !== magic) throw malformed("a chunk does not begin with CWR1");
  const rows = header.getUint32(rowsAt, true);
  const buffers = header.getUint32(bufferCountAt, true);
  if (buffers !== expected) throw malformed(`a chunk has ${buffers} buffers where its columns have ${expected}`);
  if (directoryAt + buffers * entryBytes > data.byteLength) throw malformed("a chunk ends inside its directory");
  // Codes, offsets and row numbers are signed 32-bit numbers. Each column has at least one bit per row.
  if (rows > 0x7fff_ffff || rows > data.byteLength * 8) {
    throw malformed(`a chunk of ${data.byteLength} bytes says that it has ${rows} rows`);
  }
  return rows;
}

/**
 * Opens the columns of a chunk for reading. `readHeader` must have accepted the chunk.
 *
 * Checks that every buffer lies inside the chunk and is long enough for the rows. Takes O(columns), for any number of rows. Copies nothing.
 * Throws `protocol`.
 */
export function openChunk(data: ArrayBuffer, shapes: readonly Shape[], rows: number): Vector[] {
  return new ChunkOpener(data, new DataView(data), rows).open(shapes);
}

class ChunkOpener {
  #bufferIndex = 0;
  // The end of the previous buffer. Each buffer must begin at or after this end, so that two columns never read the same memory.
  #end: number;
  // Whether readers may skip rows. They do so in the columns of a struct that has nulls.
  #sparse = false;

  constructor(
    readonly data: ArrayBuffer,
    readonly header: DataView,
    readonly rows: number,
  ) {
    this.#end = directoryAt + header.getUint32(bufferCountAt, true) * entryBytes;
  }

  open(shapes: readonly Shape[]): Vector[] {
    return shapes.map((shape) => this.#vector(shape));
  }

  #vector(shape: Shape): Vector {
    const validity = this.#validity(shape);
    const { rows } = this;
    const spans = (): Spans => new Spans(this.#offsets(rows), rows, this.#sparse || validity !== undefined);
    switch (shape.kind) {
      case "bool":
        return new BitVector(this.#bits(rows), validity);
      case "text":
        if (!shape.dictionary) return new TextVector(spans(), this.#bytes(), validity);
        return new CodeVector(this.#nextBuffer("i32", rows) as Int32Array, this.#texts(), validity);
      case "bytes":
        return new BytesVector(spans(), this.#bytes(), validity);
      case "timestamp": {
        const values = this.#nextBuffer("i64", rows) as BigInt64Array;
        const Numbers = numberVector("i64");
        return shape.unit === "ns" ? new Numbers(values, validity) : new TimeVector(values, validity);
      }
      case "list":
        return this.#list(shape.of, spans(), validity);
      case "date": {
        const Numbers = numberVector("i32");
        return new Numbers(this.#nextBuffer("i32", rows), validity);
      }
      case "struct":
        return new StructVector(this.#inner(shape.columns, validity), rowClass(shape.columns), validity);
      default: {
        const Numbers = numberVector(shape.kind);
        return new Numbers(this.#nextBuffer(shape.kind, rows), validity);
      }
    }
  }

  #list(of: ItemKind, spans: Spans, validity: Bitmap | undefined): Vector {
    // Readers read only the texts that lists contain, so they may skip texts.
    if (of === "text") return new TextListVector(spans, this.#texts(), validity);
    return new ListVector(spans, of === "bool" ? new Bitmap(this.#bytes()) : this.#nextBuffer(of), validity);
  }

  #inner(shapes: readonly Shape[], validity: Bitmap | undefined): Vector[] {
    const before = this.#sparse;
    this.#sparse ||= validity !== undefined;
    const vectors = this.open(shapes);
    this.#sparse = before;
    return vectors;
  }

  #texts(): TextVector {
    const offsets = this.#offsets(0);
    return new TextVector(new Spans(offsets, offsets.length - 1, true), this.#bytes(), undefined);
  }

  #validity(shape: Shape): Bitmap | undefined {
    const bytes = this.#bytes();
    if (bytes.length === 0) return undefined;
    if (!shape.nullable) throw malformed(`column ${shown(shape.name)} is not nullable and has nulls`);
    return enoughBits(bytes, this.rows);
  }

  #bits(rows: number): Bitmap {
    return enoughBits(this.#bytes(), rows);
  }

  #bytes(): Uint8Array {
    return this.#nextBuffer("u8") as Uint8Array;
  }

  #offsets(rows: number): Int32Array {
    const offsets = this.#nextBuffer("i32") as Int32Array;
    if (offsets.length < rows + 1) throw malformed(`${offsets.length} offsets are too few for ${rows} rows`);
    return offsets;
  }

  // Takes the next buffer of the directory. With `count`, returns only `count` elements.
  #nextBuffer(kind: keyof typeof arrays, count?: number): Values {
    const entry = directoryAt + this.#bufferIndex++ * entryBytes;
    const offset = this.header.getUint32(entry, true);
    const bytes = this.header.getUint32(entry + 4, true);
    if (offset % alignmentMin !== 0) throw malformed(`a buffer begins at ${offset}, which is not a multiple of 8`);
    if (bytes > 0 && offset < this.#end) throw malformed(`a buffer begins at ${offset}, before ${this.#end}`);
    this.#end = Math.max(this.#end, offset + bytes);
    if (offset + bytes > this.data.byteLength) throw malformed(`a buffer ends at ${offset + bytes}, beyond its chunk`);
    const Type = arrays[kind];
    const length = Math.floor(bytes / Type.BYTES_PER_ELEMENT);
    if (count !== undefined && length < count)
      throw malformed(`a column of ${length} values is too short for ${count} rows`);
    return new Type(this.data, offset, count ?? length);
  }
}

function enoughBits(bytes: Uint8Array, rows: number): Bitmap {
  if (bytes.length * 8 < rows) throw malformed(`${bytes.length * 8} bits are too few for ${rows} rows`);
  return new Bitmap(bytes);
}
