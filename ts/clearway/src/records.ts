// SPDX-License-Identifier: MIT OR Apache-2.0
/**
 * Defines tables of typed rows. Another thread reads a table without decoding it.
 *
 * @module clearway/records
 */

export type { ChunkCursor, TableMessage } from "./records/chunk.js";
export {
  type BitPart,
  type BytesPart,
  bool,
  bytes,
  type CodePart,
  date,
  type Field,
  type Fields,
  f32,
  f64,
  i8,
  i16,
  i32,
  i64,
  type ListPart,
  list,
  type NumberPart,
  nullable,
  type Part,
  struct,
  type Texts,
  text,
  timestamp,
  u8,
  u16,
  u32,
  u64,
} from "./records/field.js";
export { type InferOptions, type InferredFields, inferRecord, tableFromRows } from "./records/infer.js";
export {
  type FieldsOf,
  type NewRow,
  type RecordType,
  type Row,
  record,
  tableFrom,
  tableFromArrow,
} from "./records/record.js";
export type { Shape, TimeUnit } from "./records/shape.js";
export type { Column, ObjectWindow, Table } from "./records/table.js";
export type { TableWriter, WriterOptions } from "./records/writer.js";
export type { CrossesAs, crossesAs } from "./transfer/crossing.js";
