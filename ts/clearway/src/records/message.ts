// SPDX-License-Identifier: MIT OR Apache-2.0
import { brand } from "../transfer/crossing.js";
import { isArrayBuffer } from "./brands.js";
import { Chunk } from "./chunk.js";
import { malformed, shown } from "./refusal.js";
import { bufferCount, readShapes, type Shape } from "./shape.js";

export { brand };

/** A table as plain data, for messages. Structured clone, `postMessage` and IndexedDB accept it. */
export interface TableMessage {
  readonly version: 1;
  readonly columns: readonly Shape[];
  readonly chunks: readonly { readonly data: ArrayBuffer; readonly start: number; readonly rows: number }[];
}

/** An object that holds a table message under the key `brand`: a table, a writer, or a structured clone of either. */
export interface Branded {
  readonly [brand]: TableMessage;
}

/** A range of consecutive rows of one chunk. */
export interface Segment {
  readonly chunk: Chunk;
  readonly start: number;
  readonly rows: number;
}

/**
 * Reads a message of unknown origin, in O(columns + chunks). Accepts at most 65,536 columns.
 *
 * Takes ownership of the buffers and copies nothing. The first read of a chunk checks its columns. Each read of a value checks the value's
 * offset or code. Throws `protocol`, or `released` for memory that was moved away.
 */
export function readMessage(value: unknown): { shapes: Shape[]; segments: Segment[] } {
  const message = isObject(value) ? value[brand] : undefined;
  if (!isObject(message)) throw malformed(`it has no "${brand}"`);
  if (message["version"] !== 1) throw malformed(`version ${shown(message["version"])} is not known, only 1`);
  const shapes = readShapes(message["columns"]);
  const { chunks } = message;
  if (!Array.isArray(chunks)) throw malformed("it has no list of chunks");
  const reader = new ChunkReader(shapes);
  const segments: Segment[] = [];
  // An index loop throws at the first hole in the list. `map` would skip holes, and skipping 100 million holes takes seconds.
  for (let at = 0; at < chunks.length; at++) segments.push(reader.read(chunks[at]));
  return { shapes, segments };
}

class ChunkReader {
  readonly #shapes: readonly Shape[];
  readonly #buffers: number;
  readonly #known = new Map<ArrayBuffer, { readonly chunk: Chunk; rowCount: number }>();

  constructor(shapes: readonly Shape[]) {
    this.#shapes = shapes;
    this.#buffers = bufferCount(shapes);
  }

  read(value: unknown): Segment {
    if (!isObject(value)) throw malformed("a chunk is no object");
    const { data, start, rows } = value;
    if (!isArrayBuffer(data)) throw malformed("a chunk has no ArrayBuffer");
    const known = this.#known.get(data) ?? { chunk: new Chunk(data, this.#shapes, this.#buffers), rowCount: 0 };
    const { chunk } = known;
    if (!isCount(start) || !isCount(rows) || start + rows > chunk.rows) {
      throw malformed(`rows ${shown(start)} + ${shown(rows)} are not in a chunk of ${chunk.rows}`);
    }
    // A reference to memory is small, so a message could list one chunk many times. A table must not have more rows than its memory has.
    known.rowCount += rows;
    if (known.rowCount > chunk.rows) throw malformed(`${known.rowCount} rows are taken of a chunk of ${chunk.rows}`);
    this.#known.set(data, known);
    return { chunk, start, rows };
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === "object";
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
