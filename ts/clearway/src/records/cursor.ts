// SPDX-License-Identifier: MIT OR Apache-2.0
import { cannotBeSent } from "./refusal.js";
import { type RowClass, readColumn, rowObject } from "./row.js";
import type { Shape } from "./shape.js";
import type { Vector } from "./vector/vector.js";

/** A row object that moves from row to row. A cursor has own properties with fixed names, so engines know each property's type. */
export interface Cursor {
  $row: number;
  $vectors: readonly Vector[];
  $enter(vectors: readonly Vector[], row: number): void;
}

export type CursorClass = new () => Cursor;

type Slots = { $row: number } & { [Name in `$${0 | 1 | 2 | 3 | 4 | 5 | 6 | 7}`]: Vector };
type Getter = (this: Slots) => unknown;

// In a hand-written loop, a read through an array of columns took 3.4 times as long as a plain loop. A read through a separate property
// took 2.2 times as long (spec/decisions/a-row-is-a-view-with-getters.md). Each slot needs code, so there are only eight slots. Further
// columns use the array. Each call of an outer function creates a separate getter with its own type feedback.
const slotGetters: readonly (() => Getter)[] = [
  () =>
    function (this: Slots) {
      return this.$0.get(this.$row);
    },
  () =>
    function (this: Slots) {
      return this.$1.get(this.$row);
    },
  () =>
    function (this: Slots) {
      return this.$2.get(this.$row);
    },
  () =>
    function (this: Slots) {
      return this.$3.get(this.$row);
    },
  () =>
    function (this: Slots) {
      return this.$4.get(this.$row);
    },
  () =>
    function (this: Slots) {
      return this.$5.get(this.$row);
    },
  () =>
    function (this: Slots) {
      return this.$6.get(this.$row);
    },
  () =>
    function (this: Slots) {
      return this.$7.get(this.$row);
    },
];

/**
 * Returns whether a table with these columns can have a cursor. The table cannot if a column has the name of one of the cursor's own
 * properties and methods. Such tables use the slower {@link rowScan}.
 */
export function canHaveCursor(shapes: readonly Shape[]): boolean {
  return !shapes.some(({ name }) => /^(toJSON|\$(row|vectors|enter|cannotBeSent|[0-7]))$/.test(name));
}

/** Returns the class of the cursors for a table with these columns. Each scan creates one cursor. */
export function cursorClass(shapes: readonly Shape[], Row: RowClass): CursorClass {
  // The first columns without nulls get the slots. A slot without a column holds the first column's vector, and no getter reads it.
  const slots = shapes.flatMap(({ nullable }, at) => (nullable ? [] : [at])).slice(0, slotGetters.length);
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = slots;
  class RowCursor implements Cursor {
    $row = -1;
    $vectors: readonly Vector[] = [];
    $0: Vector | undefined = undefined;
    $1: Vector | undefined = undefined;
    $2: Vector | undefined = undefined;
    $3: Vector | undefined = undefined;
    $4: Vector | undefined = undefined;
    $5: Vector | undefined = undefined;
    $6: Vector | undefined = undefined;
    $7: Vector | undefined = undefined;
    // Structured clone rejects the cursor because of this property, even before the cursor is at a row.
    $cannotBeSent = cannotBeSent;

    $enter(vectors: readonly Vector[], row: number): void {
      this.$vectors = vectors;
      this.$0 = vectors[a];
      this.$1 = vectors[b];
      this.$2 = vectors[c];
      this.$3 = vectors[d];
      this.$4 = vectors[e];
      this.$5 = vectors[f];
      this.$6 = vectors[g];
      this.$7 = vectors[h];
      this.$row = row;
    }

    toJSON(): object {
      return rowObject(shapes, new Row(this.$vectors, this.$row));
    }
  }
  const define = (name: string | symbol, how: PropertyDescriptor): void => {
    Object.defineProperty(RowCursor.prototype, name, { configurable: true, ...how });
  };
  define(Symbol.for("nodejs.util.inspect.custom"), { value: RowCursor.prototype.toJSON });
  shapes.forEach(({ name }, column) => {
    const get = slotGetters[slots.indexOf(column)]?.() ?? arrayGetter(column);
    define(name, { get, enumerable: true });
  });
  return RowCursor;
}

function arrayGetter(column: number): (this: Cursor) => unknown {
  return function (this: Cursor) {
    return readColumn(this.$vectors[column]!, this.$row);
  };
}
