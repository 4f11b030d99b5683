// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError } from "../error/clearway-error.js";
import type { CrossesAs, crossesAs } from "../transfer/crossing.js";
import { Growth, offsetMax } from "./builder/builder.js";
import { RowsBuilder } from "./builder/rows.js";
import { Chunk, pack } from "./chunk.js";
import type { WriteOf } from "./field.js";
import { brand, type Segment, type TableMessage } from "./message.js";
import type { FieldsOf, RecordType } from "./record.js";
import { BadValue, badRow, checkOptions, invalid } from "./refusal.js";
import { Segments } from "./segments.js";
import { Table } from "./table.js";

/** Options of a table's writer. */
export interface WriterOptions {
  /** Rows per chunk. The default is 65,536 in the first million rows, and a million (2^20) after that. */
  rowsPerChunk?: number;
}

/** The names in {@link WriterOptions}. */
export const writerOptions = ["rowsPerChunk"];

// Chunks of 16 K to 256 K rows differed only by noise in the time until 1 M rows had arrived on the other side; this is the middle
// (spec/decisions/a-chunk-is-one-buffer.md). A receiver pays for each chunk, so large tables have large chunks: 100 M rows make 111
// chunks instead of 1526.
const rowsPerChunkDefault = 1 << 16;
const rowsPerLargeChunk = 1 << 20;

/** Size limits of chunks. @internal */
export interface ChunkLimits {
  /** A chunk of more than this many bytes is closed. */
  readonly closedBytes: number;
  /** The writer adds up its columns after this many bytes of texts, bytes and lists. */
  readonly growthBytes: number;
  /** Limit for the data of one column. */
  readonly dataBytes: number;
  /** Limit for all columns: the reach of 32-bit offsets in the directory, less room for the directory and the padding. */
  readonly blockBytes: number;
}

// Far below 2^31, so that a chunk has room for the largest value that is likely to occur.
const chunkLimits: ChunkLimits = {
  closedBytes: 1 << 28,
  growthBytes: 1 << 24,
  dataBytes: offsetMax,
  blockBytes: 2 ** 32 - 2 ** 26,
};

// Adding up the columns for each row would cost as much as the row, so columns of fixed width are added up after this many rows.
const rowsBetweenSums = 256;

/**
 * Takes rows and makes a table of them. A task may return or yield the writer itself; its caller gets the {@link Table}.
 *
 * Copies each row's values into columns, and each chunk once more into a block of its exact size.
 */
export class TableWriter<R extends RecordType = RecordType> implements CrossesAs<Table<R>> {
  declare readonly [crossesAs]: Table<R>;
  /** The message that crosses. The constructor makes it an own property, because structured clone takes no others. */
  declare readonly "clearway:records": TableMessage;
  readonly #schema: R;
  #rowsPerChunk: number;
  readonly #grows: boolean;
  readonly #segments: Segment[] = [];
  readonly #limits: ChunkLimits;
  readonly #growth: Growth;
  // Dropped with its scratch memory when the table is finished.
  #builder: RowsBuilder | undefined;
  // The chunk's rows. Below 0, as ~rows, while a row's values are read, because the row's getters may call this writer.
  #rows = 0;
  #before = 0;
  #table: Table<R> | undefined;

  /** Writers are made by {@link RecordType.table}. */
  constructor(schema: R, options: WriterOptions = {}, limits = chunkLimits) {
    checkOptions(options, writerOptions);
    const { rowsPerChunk = rowsPerChunkDefault } = options;
    if (!Number.isInteger(rowsPerChunk) || rowsPerChunk < 1 || rowsPerChunk > 2 ** 30) {
      throw invalid("rowsPerChunk", "a whole number from 1 to 2^30", rowsPerChunk);
    }
    this.#schema = schema;
    this.#rowsPerChunk = rowsPerChunk;
    this.#grows = options.rowsPerChunk === undefined;
    this.#limits = limits;
    this.#growth = new Growth(limits.dataBytes);
    this.#builder = new RowsBuilder("", schema.shapes, this.#growth);
    // As in a table. Posting the writer, or searching it for values to move, finishes it.
    Object.defineProperty(this, brand, { enumerable: true, get: () => this.finish().toMessage() });
  }

  /** The number of rows taken. */
  get length(): number {
    return this.#before + (this.#rows < 0 ? ~this.#rows : this.#rows);
  }

  /**
   * Takes a row. Ignores properties that are not columns.
   *
   * Throws `invalid-argument`, naming column, row and value, for a row that does not fit. That row is left out, and the writer stays
   * usable. The error has `column` and `row`.
   */
  push(row: WriteOf<FieldsOf<R>>): void {
    const rows = this.#rows;
    const builder = this.#builder;
    if (builder === undefined || rows < 0) throw this.#taken();
    this.#rows = ~rows;
    try {
      builder.push(row);
      this.#rows = rows + 1;
      const sum = rows % rowsBetweenSums === 0 || this.#growth.bytes > this.#limits.growthBytes;
      if (rows + 1 >= this.#rowsPerChunk || (sum && this.#isFull(builder))) this.#closeChunk(builder);
    } catch (reason) {
      // This also handles a lack of memory for the chunk: the row is left out, and the next one tries again.
      this.#rows = rows;
      builder.truncate(rows);
      throw reason instanceof BadValue ? badRow(reason, this.length) : reason;
    }
  }

  /** Takes all rows. Stops at a row that does not fit and throws like `push`; the rows before it stay. */
  pushAll(rows: Iterable<WriteOf<FieldsOf<R>>>): void {
    if (typeof rows?.[Symbol.iterator] !== "function") throw invalid("rows", "iterable", rows);
    for (const row of rows) this.push(row);
  }

  /**
   * Returns the table of all rows so far, the same one each time. The writer then takes no more rows and holds no scratch memory.
   *
   * Throws `invalid-argument` if a getter of a row calls it.
   */
  finish(): Table<R> {
    if (this.#table !== undefined) return this.#table;
    const builder = this.#builder;
    if (builder === undefined || this.#rows < 0) throw this.#taken();
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

  // Changes nothing until the chunk exists, because its allocation may fail.
  #closeChunk(builder: RowsBuilder): void {
    const { shapes } = this.#schema;
    // The rows as a whole have no validity of their own.
    const chunk = new Chunk(pack(this.#rows, builder.buffers().slice(1)), shapes);
    this.#segments.push({ chunk, start: 0, rows: this.#rows });
    this.#before += this.#rows;
    this.#rows = 0;
    if (this.#grows && this.#before >= rowsPerLargeChunk) this.#rowsPerChunk = rowsPerLargeChunk;
    builder.truncate(0);
  }

  // Returns the typed error for a call that the writer cannot serve in its current state.
  #taken(): ClearwayError {
    const why =
      this.#rows < 0
        ? "a getter of a row called the writer that reads the row: read its values before push()"
        : "the table is finished and takes no more rows: make another writer";
    return new ClearwayError("invalid-argument", why);
  }
}
