// SPDX-License-Identifier: MIT OR Apache-2.0
import { cannotBeSent } from "./refusal.js";
import type { Shape } from "./shape.js";
import type { Vector } from "./vector/vector.js";

// Where a row stands. The first is a text that no column is called: structured clone passes symbols over, and would make `{}`
// of a row, where it now comes to the vectors, which refuse it.
export const inChunk = "clearway:row";
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
  return shapes.some(({ name }) => name === "toJSON") ? withOwnColumns(Row, shapes) : Row;

  function define(name: string | symbol, how: PropertyDescriptor): void {
    Object.defineProperty(Row.prototype, name, { configurable: true, ...how });
  }
}

/**
 * The same with columns of each row's own: a column called `toJSON` hides the method, and JSON then takes what an object
 * has itself. Slower, for such tables only.
 */
function withOwnColumns(Row: RowClass, shapes: readonly Shape[]): RowClass {
  const getters = Object.getOwnPropertyDescriptors(Row.prototype as object) as PropertyDescriptorMap;
  const columns = Object.fromEntries(shapes.map(({ name }) => [name, getters[name]!]));
  // JSON leaves symbols out.
  const refusal: PropertyDescriptor = { value: cannotBeSent, enumerable: true };
  const own = { "clearway:refusal": refusal, ...columns, [inChunk]: { enumerable: false } };
  return class extends Row {
    constructor(vectors: readonly Vector[], row: number) {
      super(vectors, row);
      Object.defineProperties(this, own);
    }
  };
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
