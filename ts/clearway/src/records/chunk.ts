// SPDX-License-Identifier: MIT OR Apache-2.0
import { newMessageChannel } from "../globals.js";
import { brand } from "../transfer/crossing.js";
import { alignment, bufferCountAt, directoryAt, entryBytes, magic, magicAt, rowsAt } from "./layout.js";
import { invalid, malformed, released, shown, unreadable } from "./refusal.js";
import { type RowClass, type RowView, rowKey } from "./row.js";
import { bufferCount, readShapes, type Shape } from "./shape.js";
import { isArrayBuffer } from "./values.js";
import { openChunk, readHeader } from "./vector/open.js";
import { arrays, type Values, type Vector } from "./vector/vector.js";

/** One block of a table's memory. A table and its slices share chunks. */
export class Chunk {
  readonly rows: number;
  readonly #shapes: readonly Shape[];
  #vectors: readonly Vector[] | undefined;

  /**
   * Takes ownership of the buffer. Copies nothing and reads only the header. Throws `protocol` or `released`.
   *
   * The constructor does not open the columns. When it did, a table of 1526 chunks blocked its receiver for 79 ms (cold, on a busy
   * machine).
   */
  constructor(
    readonly data: ArrayBuffer,
    shapes: readonly Shape[],
    buffers: number = bufferCount(shapes),
  ) {
    if (data.byteLength === 0) throw released();
    this.rows = readHeader(data, buffers);
    this.#shapes = shapes;
  }

  /**
   * The columns. The first access opens them, in O(columns).
   *
   * Throws `protocol` if the chunk does not hold these columns, and `released` if its memory was moved away or released.
   */
  get vectors(): readonly Vector[] {
    if (this.data.byteLength === 0) throw released();
    this.#vectors ??= openChunk(this.data, this.#shapes, this.rows);
    return this.#vectors;
  }

  /** Frees the chunk's memory. All views of that memory are then empty. See {@link detach}. */
  release(): void {
    if (this.data.byteLength > 0) detach(this.data);
  }
}

let closedPort: MessagePort | undefined;

/** Detaches a buffer and frees its memory at once. */
function detach(data: ArrayBuffer & { transfer?(bytes: number): ArrayBuffer }): void {
  if (data.transfer) return void data.transfer(0);
  // Node 20 has no `transfer`. A post to a closed port detaches the buffer and drops it. `structuredClone` would keep the memory until
  // the next garbage collection. V8 would then collect everything at once and block the thread: 6 ms in a stream of 100 M rows.
  if (closedPort === undefined) {
    closedPort = newMessageChannel().port1;
    closedPort.close();
  }
  closedPort.postMessage(data, [data]);
}

/** Writes buffers into one chunk. Allocates the chunk's exact size and copies each buffer once. */
export function pack(rows: number, buffers: readonly Uint8Array[]): ArrayBuffer {
  const offsets: number[] = [];
  let end = aligned(directoryAt + buffers.length * entryBytes);
  for (const { length } of buffers) {
    offsets.push(end);
    end = aligned(end + length);
  }
  if (end > 0xffff_ffff) throw invalid("a chunk", "smaller than 4 GiB; use fewer rowsPerChunk", `${end} bytes`);
  const data = new ArrayBuffer(end);
  const header = new DataView(data);
  header.setUint32(magicAt, magic, true);
  header.setUint32(rowsAt, rows, true);
  header.setUint32(bufferCountAt, buffers.length, true);
  buffers.forEach((buffer, at) => {
    header.setUint32(directoryAt + at * entryBytes, offsets[at]!, true);
    header.setUint32(directoryAt + at * entryBytes + 4, buffer.length, true);
    new Uint8Array(data).set(buffer, offsets[at]);
  });
  return data;
}

function aligned(at: number): number {
  return Math.ceil(at / alignment) * alignment;
}

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

/** The segments of a table, in order. Finds the position of a row in them. */
export class Segments {
  readonly length: number;
  /** The end of each segment, as a row number of the table. */
  readonly #ends: number[] = [];

  constructor(readonly list: readonly Segment[]) {
    let end = 0;
    for (const { rows } of list) {
      end += rows;
      this.#ends.push(end);
    }
    this.length = end;
  }

  /** Returns a row's position, or undefined if there is no such row. Negative rows count from the end. Allocates the result. */
  find(row: number): { chunk: Chunk; row: number } | undefined {
    const whole = Math.trunc(row) || 0;
    const at = whole < 0 ? this.length + whole : whole;
    if (at < 0 || at >= this.length) return undefined;
    const index = this.#indexOf(at);
    const { chunk, start, rows } = this.list[index]!;
    return { chunk, row: start + at - (this.#ends[index]! - rows) };
  }

  /** Returns the segments for the rows from `from` up to `to`. Both must be within the table. Copies no rows. */
  slice(from: number, to: number): Segments {
    if (from >= to) return new Segments([]);
    const segments: Segment[] = [];
    for (let index = this.#indexOf(from); index < this.list.length; index++) {
      const { chunk, start, rows } = this.list[index]!;
      const first = this.#ends[index]! - rows;
      if (first >= to) break;
      const skip = Math.max(0, from - first);
      const kept = Math.min(rows, to - first) - skip;
      if (kept > 0) segments.push({ chunk, start: start + skip, rows: kept });
    }
    return new Segments(segments);
  }

  // Returns the index of the first segment that ends beyond the row. Takes O(log chunks).
  #indexOf(row: number): number {
    let low = 0;
    let high = this.#ends.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#ends[middle]! > row) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}

/**
 * A cursor over the rows of one chunk.
 *
 * The caller moves the cursor by the chunk's own row numbers. The cursor never continues into another chunk. If a loop's cursor could do
 * so, even rarely, the engine would keep the loop's sum in memory in every step, not in a register
 * (spec/decisions/a-row-is-a-view-with-getters.md).
 */
export class ChunkCursor<R> {
  /** The row number in the table of this cursor's row 0. */
  readonly first: number;
  /** The number of rows. */
  readonly length: number;
  private readonly start: number;
  private readonly row: RowView;

  /** Throws `released` or `protocol`, like the first read of a chunk. */
  constructor({ chunk, start, rows }: Segment, first: number, MovingRow: RowClass) {
    this.first = first;
    this.length = rows;
    this.start = start;
    this.row = new MovingRow(chunk.vectors, start);
  }

  /**
   * Moves to a row from 0 to `length - 1`, and returns it.
   *
   * Returns the same object each time and allocates nothing. If `row` is outside that range or not a whole number, reading a column of the
   * row throws. A struct column throws only if one of the struct's own columns is read.
   */
  at(row: number): R {
    const view = this.row;
    // Sets row -1 for a bad `row`. No column has that row, so each read throws. This method then needs no `throw`, and the loop contains no
    // call that slows it. `>>>` tests for whole numbers: with `|` and one more comparison, some runs of the loop took three times as long.
    view[rowKey] = row >>> 0 === row && row < this.length ? row + this.start : -1;
    return view as R;
  }
}

const s0 = Symbol("0");
const s1 = Symbol("1");
const s2 = Symbol("2");
const s3 = Symbol("3");
const s4 = Symbol("4");
const s5 = Symbol("5");

type Slots = { [rowKey]: number } & {
  [Name in typeof s0 | typeof s1 | typeof s2 | typeof s3 | typeof s4 | typeof s5]: Values;
};
type Getter = (this: Slots) => unknown;

// Each getter is written out. Each column of numbers then has its own slot, and each place in the code reads only one kind of array.
const getters: readonly Getter[] = [
  function (this: Slots) {
    return this[s0][this[rowKey]] ?? nothing(this[s0]);
  },
  function (this: Slots) {
    return this[s1][this[rowKey]] ?? nothing(this[s1]);
  },
  function (this: Slots) {
    return this[s2][this[rowKey]] ?? nothing(this[s2]);
  },
  function (this: Slots) {
    return this[s3][this[rowKey]] ?? nothing(this[s3]);
  },
  function (this: Slots) {
    return this[s4][this[rowKey]] ?? nothing(this[s4]);
  },
  function (this: Slots) {
    return this[s5][this[rowKey]] ?? nothing(this[s5]);
  },
];

/** Returns the class of a chunk cursor's rows. Reads of the first six columns of numbers, if not nullable, make no call. */
export function movingRow(shapes: readonly Shape[], Row: RowClass): RowClass {
  const slots = shapes.flatMap(({ nullable, kind }, at) => (nullable || !(kind in arrays) ? [] : [at]));
  class MovingRow extends Row {
    [s0]: Values | undefined;
    [s1]: Values | undefined;
    [s2]: Values | undefined;
    [s3]: Values | undefined;
    [s4]: Values | undefined;
    [s5]: Values | undefined;

    constructor(vectors: readonly Vector[], row: number) {
      super(vectors, row);
      const values = (slot: number): Values | undefined =>
        (vectors[slots[slot]!] as Partial<Record<"values", Values>> | undefined)?.values;
      this[s0] = values(0);
      this[s1] = values(1);
      this[s2] = values(2);
      this[s3] = values(3);
      this[s4] = values(4);
      this[s5] = values(5);
    }
  }
  getters.forEach((get, slot) => {
    const shape = shapes[slots[slot]!];
    if (shape) Object.defineProperty(MovingRow.prototype, shape.name, { configurable: true, enumerable: true, get });
  });
  return MovingRow;
}

function nothing({ buffer }: Values): never {
  throw unreadable(buffer, "a row is outside of its chunk, or a column ends before its table does");
}
