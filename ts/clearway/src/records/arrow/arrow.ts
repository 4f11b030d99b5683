// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Data, DataType, RecordBatch, Table } from "apache-arrow";
import { ClearwayError, caused } from "../../error/clearway-error.js";
import { type Branded, brand, pack, type Segment } from "../chunk.js";
import { invalid, shown } from "../refusal.js";
import { checkColumnLimits, type Shape } from "../shape.js";
import type { StructVector } from "../vector/open.js";
import type { BytesVector, CodeVector, ListVector, TextListVector } from "../vector/spans.js";
import type { Bitmap, BitVector, Values, Vector } from "../vector/vector.js";
import { Columns, corrupt, estimatedBytes } from "./columns.js";
import { type Arrow, arrowFields, itemType, loadArrow, shapesFrom } from "./types.js";

// Maximum size of a chunk, in bytes, as in a table's writer. A record batch of another program may be larger than a chunk can be.
const chunkBytes = 1 << 28;

/**
 * Converts an Arrow table into a table message.
 *
 * Copies each buffer once, into a chunk that the new table owns. A record batch becomes one chunk, or several chunks if it has more than
 * 256 MiB. Decodes no values. Throws `invalid-argument` for content that tables do not support, and `protocol` for corrupt memory.
 */
export async function fromArrow(table: Table, wanted?: readonly Shape[]): Promise<Branded> {
  const arrow = await loadArrow();
  try {
    return converted(arrow, table, wanted);
  } catch (cause) {
    if (cause instanceof ClearwayError) throw cause;
    // The parts of a table that came from elsewhere may be anything: a missing buffer, a length that its memory does not have.
    throw caused("protocol", "the Arrow table is malformed", cause);
  }
}

function converted(
  arrow: Awaited<ReturnType<typeof loadArrow>>,
  table: Table,
  wanted: readonly Shape[] | undefined,
): Branded {
  if (!Array.isArray(table?.schema?.fields) || !Array.isArray(table.batches)) {
    throw invalid("table", "a Table of the package apache-arrow", table);
  }
  const columns = shapesFrom(arrow, table.schema.fields, wanted);
  checkColumnLimits(columns);
  const copying = new Columns(copyBytesMax(table.batches));
  const chunks = table.batches
    .flatMap((batch) => pieces(columns, batch, chunkBytes))
    .map((batch) => {
      const rows = batch.numRows;
      const buffers = columns.flatMap((shape, at) =>
        copying.copy(shape, shape.name, childOf(batch.data, shape, at), rows),
      );
      return { data: pack(rows, buffers), start: 0, rows };
    });
  return { [brand]: { version: 1, columns, chunks } };
}

/** Splits a record batch into halves until each piece fits into `bytesMax` or has one row. */
export function pieces(columns: readonly Shape[], batch: RecordBatch, bytesMax: number): RecordBatch[] {
  const rows = batch.numRows;
  if (rows === 0) return [];
  const bytes = columns.reduce(
    (sum, shape, at) => sum + estimatedBytes(shape, shape.name, childOf(batch.data, shape, at), rows),
    0,
  );
  if (rows === 1 || !(bytes > bytesMax)) return [batch];
  const half = rows >> 1;
  return [batch.slice(0, half), batch.slice(half, rows)].flatMap((piece) => pieces(columns, piece, bytesMax));
}

function childOf(data: Data, shape: Shape, at: number): Data {
  const child = data.children[at];
  if (!child) throw corrupt(shown(shape.name), "has no data");
  return child;
}

// Texts in views, dictionaries and columns may share memory, so a copy may be much larger than the source. These constants limit the copy:
// 64 times the source's bytes, but at least 256 MiB.
const copyBytesMin = 1 << 28;
const copiesPerByte = 64;

function copyBytesMax(batches: readonly RecordBatch[]): number {
  const buffers = new Set<ArrayBufferLike>();
  const collect = (data: Data | undefined): void => {
    if (!data) return; // a batch without rows has no data
    const { values, valueOffsets, nullBitmap } = data as {
      values?: Uint8Array;
      valueOffsets?: Int32Array;
      nullBitmap?: Uint8Array;
    };
    for (const view of [values, valueOffsets, nullBitmap, ...(data.variadicBuffers ?? [])])
      if (view) buffers.add(view.buffer);
    data.children.forEach(collect);
    data.dictionary?.data.forEach(collect);
  };
  for (const { data } of batches) collect(data);
  return Math.max(copyBytesMin, [...buffers].reduce((sum, { byteLength }) => sum + byteLength, 0) * copiesPerByte);
}

// The types of apache-arrow connect a column's type with its buffers only if the column's type is known at compile time.
type Props = { type: DataType; length: number } & Record<string, unknown>;

/** Builds an Arrow table over the same memory. Each segment becomes a record batch. Copies nothing. Takes O(columns × chunks). */
export async function toArrow(shapes: readonly Shape[], segments: readonly Segment[]): Promise<Table> {
  const arrow = await loadArrow();
  const make = arrow.makeData as unknown as (props: Props) => Data;
  const fields = arrowFields(arrow, shapes);
  const schema = new arrow.Schema(fields);
  const rowsType = new arrow.Struct(fields);
  const batches = segments.map(({ chunk, start, rows }) => {
    const children = shapes.map((shape, at) =>
      dataOf(arrow, make, fields[at]!.type, shape, chunk.vectors[at]!, chunk.rows),
    );
    const data = make({ type: rowsType, length: chunk.rows, nullCount: 0, children });
    const whole = new arrow.RecordBatch(schema, data as never);
    return rows === chunk.rows ? whole : whole.slice(start, start + rows);
  });
  return new arrow.Table(schema, batches);
}

function dataOf(
  arrow: Arrow,
  make: (props: Props) => Data,
  type: DataType,
  shape: Shape,
  vector: Vector,
  length: number,
): Data {
  const nullBitmap = vector.validity?.bytes;
  // Tables do not store null counts. -1 makes apache-arrow count the nulls on demand.
  const base = { type, length, nullCount: nullBitmap ? -1 : 0, nullBitmap };
  const spansOf = ({ spans, data }: BytesVector): Data => make({ ...base, valueOffsets: spans.offsets, data });
  switch (shape.kind) {
    case "bool":
      return make({ ...base, data: (vector as BitVector).bits.bytes });
    case "text":
      if (shape.dictionary) {
        const { codes, texts } = vector as CodeVector;
        const entries = texts.spans.rows;
        const dictionary = make({
          type: new arrow.Utf8(),
          length: entries,
          nullCount: 0,
          valueOffsets: texts.spans.offsets,
          data: texts.data,
        });
        return make({ ...base, data: codes, dictionary: new arrow.Vector([dictionary]) });
      }
      return spansOf(vector as BytesVector);
    case "bytes":
      return spansOf(vector as BytesVector);
    case "list": {
      const { offsets } = (vector as ListVector | TextListVector).spans;
      if (shape.of === "text") {
        const { spans, data } = (vector as TextListVector).texts;
        const type = new arrow.Utf8();
        const child = make({ type, length: spans.rows, nullCount: 0, valueOffsets: spans.offsets, data });
        return make({ ...base, valueOffsets: offsets, child });
      }
      const { items } = vector as ListVector;
      // Checks the column's type, not the object's class: this file is in a separate bundle, which has its own copies of the classes.
      const bits = shape.of === "bool";
      const child = make({
        type: itemType(arrow, shape.of),
        length: bits ? (offsets[length] ?? 0) : (items as Values).length,
        nullCount: 0,
        data: bits ? (items as Bitmap).bytes : items,
      });
      return make({ ...base, valueOffsets: offsets, child });
    }
    case "struct": {
      const { columns } = vector as StructVector;
      const children = shape.columns.map((each, at) =>
        dataOf(arrow, make, type.children[at]!.type, each, columns[at]!, length),
      );
      return make({ ...base, children });
    }
    default:
      return make({ ...base, data: (vector as unknown as { values: Values }).values });
  }
}

// What only apps with Arrow tables need. The build makes one file of it, because its state belongs to two entries: `clearway/records` loads it
// when it is needed, and `clearway/records/arrow` gives it the package.
export { registerArrow } from "./types.js";
