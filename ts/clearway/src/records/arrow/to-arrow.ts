// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Data, DataType, Table } from "apache-arrow";
import type { Segment } from "../message.js";
import type { Shape } from "../shape.js";
import type { BitVector } from "../vector/bits.js";
import type { CodeVector } from "../vector/codes.js";
import type { Values } from "../vector/numbers.js";
import type { BytesVector, ListVector, TextListVector } from "../vector/spans.js";
import type { StructVector } from "../vector/struct.js";
import type { Bitmap, Vector } from "../vector/vector.js";
import { type Arrow, loadArrow } from "./load.js";
import { arrowFields, itemType } from "./types.js";

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
