// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Data, Table, Vector } from "apache-arrow";
import { ClearwayError } from "../../error/clearway-error.js";
import { Growth, noBytes } from "../builder/builder.js";
import { TextBuilder } from "../builder/texts.js";
import { pack } from "../chunk.js";
import { type Branded, brand } from "../message.js";
import { malformed } from "../refusal.js";
import type { Shape } from "../shape.js";
import { loadArrow } from "./load.js";
import { shapesFrom } from "./types.js";

/**
 * What an Arrow table holds, as a message of ours. Copies each buffer once into a chunk that the table owns, one for each
 * record batch; decodes no values. Throws `invalid-argument` for what tables do not have.
 */
export async function fromArrow(table: Table, wanted?: readonly Shape[]): Promise<Branded> {
  const arrow = await loadArrow();
  const columns = shapesFrom(arrow, table.schema.fields, wanted);
  const chunks = table.batches
    .filter((batch) => batch.numRows > 0)
    .map((batch) => {
      const rows = batch.numRows;
      const buffers = columns.flatMap((shape, at) => buffersOf(shape, batch.data.children[at]!, rows));
      return { data: pack(rows, buffers), start: 0, rows };
    });
  return { [brand]: { version: 1, columns, chunks } };
}

// In that package, values and offsets begin with the first row, whatever `offset` says; only bits are counted from it.
function buffersOf(shape: Shape, data: Data, rows: number): Uint8Array[] {
  const validity = data.nullCount === 0 ? noBytes : bits(data.nullBitmap, data.offset, rows);
  if (validity.length > 0 && !shape.nullable) {
    throw malformed(`column ${JSON.stringify(shape.name)} is not nullable and has nulls`);
  }
  switch (shape.kind) {
    case "bool":
      return [validity, bits(data.values, data.offset, rows)];
    case "text":
      if (shape.dictionary) {
        const codes = Int32Array.from((data.values as Int32Array).subarray(0, rows));
        return [validity, memory(codes), ...dictionaryOf(shape, data.dictionary)];
      }
      return [validity, ...spans(data, rows, (first, last) => (data.values as Uint8Array).subarray(first, last))];
    case "bytes":
      return [validity, ...spans(data, rows, (first, last) => (data.values as Uint8Array).subarray(first, last))];
    case "list": {
      const items = data.children[0]!;
      if (items.nullCount > 0) throw refused(shape, "lists with nulls in them");
      return [
        validity,
        ...spans(data, rows, (first, last) =>
          shape.of === "bool"
            ? bits(items.values, items.offset + first, last - first)
            : memory((items.values as Int32Array).subarray(first, last)),
        ),
      ];
    }
    case "struct":
      return [validity, ...shape.columns.flatMap((each, at) => buffersOf(each, data.children[at]!, rows))];
    default:
      return [validity, memory((data.values as Int32Array).subarray(0, rows))];
  }
}

/** Offsets that begin with 0, and the share of the data that they span. */
function spans(data: Data, rows: number, share: (first: number, last: number) => Uint8Array): Uint8Array[] {
  const from = data.valueOffsets as Int32Array;
  const first = from[0] ?? 0;
  const offsets = new Int32Array(rows + 1);
  for (let row = 0; row <= rows; row++) offsets[row] = (from[row] ?? first) - first;
  return [memory(offsets), share(first, first + offsets[rows]!)];
}

function dictionaryOf(shape: Shape, dictionary: Vector | undefined): Uint8Array[] {
  const texts = new TextBuilder(shape.name, new Growth());
  // It may come in several pieces, a first one and what was added later.
  for (const text of dictionary ?? []) {
    if (text === null) throw refused(shape, "dictionaries with null in them");
    texts.push(text);
  }
  return texts.buffers().slice(1);
}

function bits(from: Uint8Array, start: number, count: number): Uint8Array {
  const first = start >> 3;
  const shift = start & 7;
  const to = new Uint8Array((count + 7) >> 3);
  for (let at = 0; at < to.length; at++) {
    to[at] = ((from[first + at] ?? 0) >> shift) | ((from[first + at + 1] ?? 0) << (8 - shift));
  }
  return to;
}

function memory(values: ArrayBufferView): Uint8Array {
  return new Uint8Array(values.buffer as ArrayBuffer, values.byteOffset, values.byteLength);
}

function refused(shape: Shape, what: string): ClearwayError {
  return new ClearwayError("invalid-argument", `tables have no ${what}: ${shape.name}`);
}
