// SPDX-License-Identifier: MIT OR Apache-2.0
import { checked, type Test, wholeFrom } from "../error/checked.js";
import { ClearwayError } from "../error/clearway-error.js";
import { type CrossesAs, type crossesAs, markTable } from "../transfer/crossing.js";
import { Growth, offsetMax } from "./builder/builder.js";
import { RowsBuilder } from "./builder/rows.js";
import { Chunk, pack, type Segment, Segments, type TableMessage } from "./chunk.js";
import type { WriteOf } from "./field.js";
import type { FieldsOf, RecordType } from "./record.js";
import { BadValue, badRow, invalid } from "./refusal.js";
import { Table } from "./table.js";

/** Options of a table's writer. */
export interface WriterOptions {
  /** The number of rows per chunk. Default: 65,536 for the first million rows of a table, and 2^20 (about a million) after that. */
  rowsPerChunk?: number | undefined;
}

/** The rule for the option in {@link WriterOptions}. */
export const rowsPerChunkRule: Test = (value) => wholeFrom(value, 1, 2 ** 30);

// With chunks of 16 K to 256 K rows, the time until 1 M rows had arrived on the other side differed only by noise. The default is in the
// middle of that range (spec/decisions/a-chunk-is-one-buffer.md). A receiver pays for each chunk, so large tables have large chunks:
// 100 M rows make 111 chunks instead of 1526.
const rowsPerChunkDefault = 1 << 16;
const rowsPerLargeChunk = 1 << 20;

/** Size limits of chunks, in bytes. @internal */
export interface ChunkLimits {
  /** The writer closes a chunk that is larger than this. */
  readonly closedBytes: number;
  /** The writer computes the chunk's size again when texts, bytes and lists have added this much. */
  readonly growthBytes: number;
  /** The maximum size of one column. */
  readonly dataBytes: number;
  /**
   * The maximum size of all columns together: the range of the directory's 32-bit offsets, minus room for the directory and the
   * padding.
   */
  readonly blockBytes: number;
}

// The writer closes chunks far below 2^31 bytes, so that a chunk still has room for the largest likely value.
const chunkLimits: ChunkLimits = {
  closedBytes: 1 << 28,
  growthBytes: 1 << 24,
  dataBytes: offsetMax,
  blockBytes: 2 ** 32 - 2 ** 26,
};

// The writer also computes the chunk's size after this number of rows, because columns of fixed width grow, too. Computing the size for
// each row would cost as much as the row itself.
const rowsBetweenSizes = 256;

/**
 * Collects rows and makes a table of them. A task may return or yield the writer itself. The caller then gets the {@link Table}.
 *
 * Copies each row's values into columns. When a chunk is full, copies its columns once more, into a block of the exact size.
 */
export class TableWriter<R extends RecordType = RecordType> implements CrossesAs<Table<R>> {
  declare readonly [crossesAs]: Table<R>;
  /** The table as a message. The constructor makes this an own property, because structured clone reads only own properties. */
  declare readonly "clearway:records": TableMessage;
  readonly #schema: R;
  #rowsPerChunk: number;
  readonly #enlargesChunks: boolean;
  readonly #segments: Segment[] = [];
  readonly #limits: ChunkLimits;
  readonly #growth: Growth;
  // Undefined after `finish`, which frees the scratch memory.
  #builder: RowsBuilder | undefined;
  // The number of rows in the current chunk. The number is negative (~rows) during `push`, because a row's getters may call this writer.
  #rows = 0;
  #rowsInChunks = 0;
  #table: Table<R> | undefined;

  /** Applications use {@link RecordType.table} instead. */
  constructor(schema: R, options: WriterOptions = {}, limits = chunkLimits) {
    const { rowsPerChunk } = checked(options, { rowsPerChunk: rowsPerChunkRule });
    this.#schema = schema;
    this.#rowsPerChunk = rowsPerChunk ?? rowsPerChunkDefault;
    this.#enlargesChunks = rowsPerChunk === undefined;
    this.#limits = limits;
    this.#growth = new Growth(limits.dataBytes);
    this.#builder = new RowsBuilder("", schema.shapes, this.#growth);
    // A table has the same property. Posting the writer, or searching it for values to move, finishes the table.
    markTable(this, () => this.finish().toMessage());
  }

  /** The number of rows that were added. */
  get length(): number {
    return this.#rowsInChunks + (this.#rows < 0 ? ~this.#rows : this.#rows);
  }

  /**
   * Adds a row. Ignores properties that are not columns.
   *
   * Throws `invalid-argument` for a row that does not fit. The error's message names the column, the row and the value. The error also has
   * the properties `column` and `row`. The writer skips that row and stays usable.
   */
  push(row: WriteOf<FieldsOf<R>>): void {
    const rows = this.#rows;
    const builder = this.#builder;
    if (builder === undefined || rows < 0) throw this.#unusable();
    this.#rows = ~rows;
    try {
      builder.push(row);
      this.#rows = rows + 1;
      const computesSize = rows % rowsBetweenSizes === 0 || this.#growth.bytes > this.#limits.growthBytes;
      if (rows + 1 >= this.#rowsPerChunk || (computesSize && this.#isFull(builder))) this.#closeChunk(builder);
    } catch (reason) {
      // There may also be no memory for the chunk. Then the row is skipped, too, and the next row tries to close the chunk again.
      this.#rows = rows;
      builder.truncate(rows);
      throw reason instanceof BadValue ? badRow(reason, this.length) : reason;
    }
  }

  /** Adds all rows. Stops at the first row that does not fit and throws the error of `push`. Earlier rows stay in the table. */
  pushAll(rows: Iterable<WriteOf<FieldsOf<R>>>): void {
    if (typeof rows?.[Symbol.iterator] !== "function") throw invalid("rows", "iterable", rows);
    for (const row of rows) this.push(row);
  }

  /**
   * Returns the table of all rows so far. Each call returns the same table. Afterwards the writer takes no rows and has no scratch memory.
   *
   * Throws `invalid-argument` if a getter of a row calls this method during `push`.
   */
  finish(): Table<R> {
    if (this.#table !== undefined) return this.#table;
    const builder = this.#builder;
    if (builder === undefined || this.#rows < 0) throw this.#unusable();
    if (this.#rows > 0) this.#closeChunk(builder);
    this.#builder = undefined;
    this.#table = new Table(this.#schema, new Segments(this.#segments));
    return this.#table;
  }

  #isFull(builder: RowsBuilder): boolean {
    const { closedBytes, blockBytes } = this.#limits;
    this.#growth.bytes = 0;
    const { bytes } = builder;
    if (bytes > blockBytes) {
      const hint = "Split the row, or its largest values, over several rows.";
      throw new BadValue(
        "the row",
        `small enough for ${blockBytes} bytes together with its chunk`,
        `${bytes} bytes`,
        hint,
      );
    }
    return bytes > closedBytes;
  }

  // Changes nothing until the chunk exists, because the allocation of the chunk may fail.
  #closeChunk(builder: RowsBuilder): void {
    const { shapes } = this.#schema;
    // A table's rows are never null as a whole, so the first buffer, their validity, is left out.
    const chunk = new Chunk(pack(this.#rows, builder.buffers().slice(1)), shapes);
    this.#segments.push({ chunk, start: 0, rows: this.#rows });
    this.#rowsInChunks += this.#rows;
    this.#rows = 0;
    if (this.#enlargesChunks && this.#rowsInChunks >= rowsPerLargeChunk) this.#rowsPerChunk = rowsPerLargeChunk;
    builder.truncate(0);
  }

  // Returns the typed error for a call that the writer cannot serve in its current state.
  #unusable(): ClearwayError {
    const why =
      this.#rows < 0
        ? "a getter of a row called the writer that reads the row: read its values before push()"
        : "the table is finished and takes no more rows: make another writer";
    return new ClearwayError("invalid-argument", why);
  }
}
