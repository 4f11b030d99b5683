// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Data, RecordBatch, Table } from "apache-arrow";
import { ClearwayError, caused } from "../../error/clearway-error.js";
import { pack } from "../chunk.js";
import { type Branded, brand } from "../message.js";
import { invalid, shown } from "../refusal.js";
import type { Shape } from "../shape.js";
import { checkColumnLimits } from "../shape.js";
import { Columns, estimatedBytes } from "./columns.js";
import { loadArrow } from "./load.js";
import { corrupt } from "./memory.js";
import { shapesFrom } from "./types.js";

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

export function childOf(data: Data, shape: Shape, at: number): Data {
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
