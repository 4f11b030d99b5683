// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Shape } from "./shape.js";
import type { Vector } from "./vector/vector.js";

// Where a row stands. Symbols, because every string may be a column's name.
export const inChunk = Symbol("clearway.row.vectors");
export const atRow = Symbol("clearway.row.at");

/** A row before its columns: which chunk, and where in it. */
export interface RowView {
  [inChunk]: readonly Vector[];
  [atRow]: number;
}

export type RowClass = new (vectors: readonly Vector[], row: number) => RowView;

/**
 * The class of the rows of a table with these columns: a getter a column, and `toJSON()`, unless a column is called so.
 * A row holds no values: it reads the table's memory.
 *
 * One literal makes all getters, yet each is a function of its own with type feedback of its own: it meets one class of
 * vector only, whatever other tables do.
 */
export function rowClass(shapes: readonly Shape[]): RowClass {
  class Row implements RowView {
    [inChunk]: readonly Vector[];
    [atRow]: number;

    constructor(vectors: readonly Vector[], row: number) {
      this[inChunk] = vectors;
      this[atRow] = row;
    }

    toJSON(): object {
      return rowObject(shapes, this);
    }
  }
  // For `console.log` in Node, which would show a row as empty.
  define(Symbol.for("nodejs.util.inspect.custom"), { value: (Row.prototype as Row).toJSON });
  shapes.forEach(({ name, nullable }, column) => {
    const get = nullable ? nullableGetter(column) : getter(column);
    define(name, { get, enumerable: true });
  });
  return Row;

  function define(name: string | symbol, how: PropertyDescriptor): void {
    Object.defineProperty(Row.prototype, name, { configurable: true, ...how });
  }
}

function getter(column: number): (this: RowView) => unknown {
  return function (this: RowView) {
    return this[inChunk][column]!.get(this[atRow]);
  };
}

function nullableGetter(column: number): (this: RowView) => unknown {
  return function (this: RowView) {
    const vector = this[inChunk][column]!;
    const row = this[atRow];
    const { validity } = vector;
    return validity !== undefined && !validity.get(row) ? null : vector.get(row);
  };
}

/** A row's values as a plain object, nested rows too. Bytes and lists stay views of the table's memory. */
export function rowObject(shapes: readonly Shape[], row: RowView): Record<string, unknown> {
  const made: Record<string, unknown> = {};
  for (let at = 0; at < shapes.length; at++) {
    const shape = shapes[at]!;
    const value = readColumn(row[inChunk][at]!, row[atRow]);
    made[shape.name] = shape.kind === "struct" && value !== null ? rowObject(shape.columns, value as RowView) : value;
  }
  return made;
}

/** A value of a column, null where there is none. */
export function readColumn(vector: Vector, row: number): unknown {
  const { validity } = vector;
  return validity !== undefined && !validity.get(row) ? null : vector.get(row);
}
