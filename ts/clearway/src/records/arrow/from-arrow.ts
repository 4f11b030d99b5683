// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Data, RecordBatch, Table } from "apache-arrow";
import { pack } from "../chunk.js";
import { type Branded, brand } from "../message.js";
import { invalid, shown } from "../refusal.js";
import type { Shape } from "../shape.js";
import { checkExtent } from "../shape.js";
import { Columns, weightOf } from "./columns.js";
import { loadArrow } from "./load.js";
import { corrupt } from "./memory.js";
import { shapesFrom } from "./types.js";

// As writers close chunks: record batches of others may be larger than a chunk may be.
const chunkBytes = 1 << 28;

/**
 * What an Arrow table holds, as a message of ours. Copies each buffer once into a chunk that the table owns, one for each
 * record batch, or several for one of more than 256 MiB; decodes no values. Throws `invalid-argument` for what tables do
 * not have, and `protocol` for memory that does not hold what it says.
 */
export async function fromArrow(table: Table, wanted?: readonly Shape[]): Promise<Branded> {
  const arrow = await loadArrow();
  if (!Array.isArray(table?.schema?.fields) || !Array.isArray(table.batches)) {
    throw invalid("table", "a Table of the package apache-arrow", table);
  }
  const columns = shapesFrom(arrow, table.schema.fields, wanted);
  checkExtent(columns);
  const copying = new Columns(roomFor(table.batches));
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

/** Record batches small enough for a chunk each: halves, and halves of those. */
export function pieces(columns: readonly Shape[], batch: RecordBatch, bytesMax: number): RecordBatch[] {
  const rows = batch.numRows;
  if (rows === 0) return [];
  const weight = columns.reduce(
    (sum, shape, at) => sum + weightOf(shape, shape.name, childOf(batch.data, shape, at), rows),
    0,
  );
  if (rows === 1 || !(weight > bytesMax)) return [batch];
  const half = rows >> 1;
  return [batch.slice(0, half), batch.slice(half, rows)].flatMap((piece) => pieces(columns, piece, bytesMax));
}

export function childOf(data: Data, shape: Shape, at: number): Data {
  const child = data.children[at];
  if (!child) throw corrupt(shown(shape.name), "has no data");
  return child;
}

// Texts by views, dictionaries and columns may share memory, so what is copied may be much more than what there is.
const roomMin = 1 << 28;
const roomPerByte = 64;

function roomFor(batches: readonly RecordBatch[]): number {
  const seen = new Set<ArrayBufferLike>();
  const see = (data: Data | undefined): void => {
    if (!data) return; // of a batch without rows
    const { values, valueOffsets, nullBitmap } = data as {
      values?: Uint8Array;
      valueOffsets?: Int32Array;
      nullBitmap?: Uint8Array;
    };
    for (const view of [values, valueOffsets, nullBitmap, ...(data.variadicBuffers ?? [])])
      if (view) seen.add(view.buffer);
    data.children.forEach(see);
    data.dictionary?.data.forEach(see);
  };
  for (const { data } of batches) see(data);
  return Math.max(roomMin, [...seen].reduce((sum, { byteLength }) => sum + byteLength, 0) * roomPerByte);
}
