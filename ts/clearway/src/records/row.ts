// SPDX-License-Identifier: MIT OR Apache-2.0
import { cannotBeSent, refused } from "./refusal.js";
import type { Shape } from "./shape.js";
import type { Vector } from "./vector/vector.js";

// The keys of a row's two own properties: the chunk's vectors, and the row's position in the chunk. The first key is a string that no
// column name can be. Structured clone skips symbols, so with a symbol it would turn a row into `{}`. With the string key, structured clone
// reaches the vectors and rejects the row.
const vectorsKey = "clearway:row";
export const rowKey = Symbol("clearway.row.at");

/** A row without getters for its columns: the chunk's vectors and the position in the chunk. */
export interface RowView {
  [vectorsKey]: readonly Vector[];
  [rowKey]: number;
}

export type RowClass = new (vectors: readonly Vector[], row: number) => RowView;

/**
 * Returns the class of the rows of a table with these columns. The class has one getter per column. It also has `toJSON()`, unless a column
 * has that name.
 *
 * A row stores no values but reads the table's memory. One function literal creates all getters, but each getter is a separate function
 * with its own type feedback. Each getter therefore handles only one class of vector, whatever the other tables are.
 */
export function rowClass(shapes: readonly Shape[]): RowClass {
  class Row implements RowView {
    [vectorsKey]: readonly Vector[];
    [rowKey]: number;

    constructor(vectors: readonly Vector[], row: number) {
      this[vectorsKey] = vectors;
      this[rowKey] = row;
    }

    toJSON(): object {
      return rowObject(shapes, this);
    }
  }
  // `console.log` in Node calls this. Without this method, a row would look empty.
  define(Symbol.for("nodejs.util.inspect.custom"), { value: (Row.prototype as Row).toJSON });
  shapes.forEach(({ name, nullable }, column) => {
    const get = nullable ? nullableGetter(column) : getter(column);
    define(name, { get, enumerable: true });
  });
  return shapes.some(({ name }) => name === "toJSON") ? withOwnColumns(Row, shapes) : Row;

  function define(name: string | symbol, how: PropertyDescriptor): void {
    Object.defineProperty(Row.prototype, name, { configurable: true, ...how });
  }
}

/**
 * Returns a row class for tables with a column named `toJSON`. Each row has its columns as own properties, which is slower.
 *
 * The column hides the method `toJSON()`, so `JSON.stringify` reads a row's own properties.
 */
function withOwnColumns(Row: RowClass, shapes: readonly Shape[]): RowClass {
  const getters = Object.getOwnPropertyDescriptors(Row.prototype as object) as PropertyDescriptorMap;
  const columns = Object.fromEntries(shapes.map(({ name }) => [name, getters[name]!]));
  // JSON omits properties whose value is a symbol.
  const refusal: PropertyDescriptor = { value: refused, enumerable: true };
  const own = { [cannotBeSent]: refusal, ...columns, [vectorsKey]: { enumerable: false } };
  return class extends Row {
    constructor(vectors: readonly Vector[], row: number) {
      super(vectors, row);
      Object.defineProperties(this, own);
    }
  };
}

function getter(column: number): (this: RowView) => unknown {
  return function (this: RowView) {
    return this[vectorsKey][column]!.get(this[rowKey]);
  };
}

function nullableGetter(column: number): (this: RowView) => unknown {
  return function (this: RowView) {
    const vector = this[vectorsKey][column]!;
    const row = this[rowKey];
    const { validity } = vector;
    return validity !== undefined && !validity.get(row) ? null : vector.get(row);
  };
}

/** Returns a row's values as a plain object. Converts nested rows, too. Bytes and lists stay views of the table's memory. */
export function rowObject(shapes: readonly Shape[], row: RowView): Record<string, unknown> {
  const made: Record<string, unknown> = {};
  for (let at = 0; at < shapes.length; at++) {
    const shape = shapes[at]!;
    const value = readColumn(row[vectorsKey][at]!, row[rowKey]);
    made[shape.name] = shape.kind === "struct" && value !== null ? rowObject(shape.columns, value as RowView) : value;
  }
  return made;
}

/** Returns a column's value, or null for a null row. */
export function readColumn(vector: Vector, row: number): unknown {
  const { validity } = vector;
  return validity !== undefined && !validity.get(row) ? null : vector.get(row);
}
