// SPDX-License-Identifier: MIT OR Apache-2.0

import { BadValue, detached, shown } from "../refusal.js";
import type { ItemKind, NumberKind, Shape } from "../shape.js";
import { isDetached, typedArrayLength, typedArrayName } from "../values.js";
import { arrays, type Values } from "../vector/vector.js";
import {
  BitBuilder,
  type Builder,
  bytesOf,
  firstRows,
  type Growth,
  grown,
  noBytes,
  nullableBuilder,
  offsetMax,
} from "./builder.js";
import { BytesBuilder, CodeBuilder, DateBuilder, numberBuilder, TextBuilder, TimeBuilder } from "./columns.js";

interface Items extends Builder {
  readonly length: number;
  pushAll?(values: Values): void;
}

function itemsOf(of: ItemKind, column: string, growth: Growth): Items {
  if (of === "text") return new TextBuilder(column, growth);
  return of === "bool" ? new BitBuilder(column) : numberBuilder(of, column);
}

/** Collects lists of numbers, booleans or texts: offsets, and one sequence with the items of all rows. */
class ListBuilder implements Builder {
  readonly #items: Items;
  readonly #expected: string;
  readonly #arrayName: string | undefined;
  #offsets: Int32Array = new Int32Array(firstRows + 1);
  #rows = 0;
  #end = 0;

  constructor(
    readonly column: string,
    of: ItemKind,
    readonly growth: Growth,
  ) {
    this.#items = itemsOf(of, `${column}[]`, growth);
    this.#arrayName = of in arrays ? arrays[of as NumberKind].name : undefined;
    this.#expected = `an array of ${of}`;
  }

  get bytes(): number {
    return this.#items.bytes + this.#rows * 4;
  }

  push(value: unknown): void {
    const items = this.#items;
    const array = typedArrayName(value);
    if (array !== undefined && isDetached(value)) throw detached(this.column, value);
    if (items.pushAll && array !== undefined && array === this.#arrayName) {
      this.#checkRoom(typedArrayLength(value));
      items.pushAll(value as Float64Array);
      this.#endRow();
      return;
    }
    if (!Array.isArray(value) && array === undefined) {
      throw new BadValue(this.column, this.#expected, value);
    }
    const list = value as unknown as ArrayLike<unknown>;
    this.#checkRoom(list.length);
    for (let at = 0; at < list.length; at++) items.push(list[at]);
    this.#endRow();
  }

  pushEmpty(): void {
    this.#endRow();
  }

  truncate(rows: number): void {
    this.#rows = Math.min(rows, this.#rows);
    this.#end = this.#offsets[this.#rows]!;
    this.#items.truncate(this.#end);
  }

  buffers(): Uint8Array[] {
    const [, ...items] = this.#items.buffers();
    return [noBytes, bytesOf(this.#offsets, this.#rows + 1), ...items];
  }

  #checkRoom(length: number): void {
    if (this.#end + length <= offsetMax) return;
    const hint = "Split the list over several rows.";
    throw new BadValue(this.column, "of fewer than 2^31 items together with its chunk", `${length} items`, hint);
  }

  // Ends a row after its last item. The list's length may be wrong, because the getters of the list may shorten it.
  #endRow(): void {
    const items = this.#items;
    const at = ++this.#rows;
    if (at === this.#offsets.length) this.#offsets = grown(Int32Array, this.#offsets, at + 1);
    this.#offsets[at] = items.length;
    this.growth.bytes += (items.length - this.#end) * 8;
    this.#end = items.length;
  }
}

type PushRow = (row: Record<string, unknown>) => void;

/** The description of a value that {@link isRow} accepts. */
export const rowExpected = "an object with properties";

/** Returns whether a value can be a row. The content of a date, an array, a map or a set is not in properties with the names of columns. */
export function isRow(value: unknown): value is Record<string, unknown> {
  if (value === null || typeof value !== "object") return false;
  return !/^(Date|RegExp|(Weak)?(Map|Set)|\w*Array)$/.test(shown(value));
}

/** Collects rows with several columns: the rows of a table, or the values of a struct column. */
export class RowsBuilder implements Builder {
  readonly #columns: readonly Builder[];
  readonly #pushRow: PushRow;
  // The prototype of the last row that `isRow` has accepted. Most rows have the same one, and `isRow` takes longer than a column. Undefined
  // if a column is not nullable. That column then refuses a value without columns, and reading the prototype would cost 10 ns per row.
  #prototype: unknown;

  constructor(
    readonly path: string,
    shapes: readonly Shape[],
    growth: Growth,
  ) {
    const pathOf = (name: string): string => (path === "" ? name : `${path}.${name}`);
    this.#columns = shapes.map((shape) => builderOf(pathOf(shape.name), shape, growth));
    this.#pushRow = pusherOf(shapes, this.#columns);
    if (shapes.every(({ nullable }) => nullable)) this.#prototype = Object.prototype;
  }

  get bytes(): number {
    return this.#columns.reduce((sum, column) => sum + column.bytes, 0);
  }

  push(row: unknown): void {
    if (row === null || typeof row !== "object" || (this.#prototype !== undefined && !this.#accepts(row)))
      throw new BadValue(this.path || "the row", rowExpected, row);
    this.#pushRow(row as Record<string, unknown>);
  }

  pushEmpty(): void {
    for (const column of this.#columns) column.pushEmpty();
  }

  truncate(rows: number): void {
    for (const column of this.#columns) column.truncate(rows);
  }

  buffers(): Uint8Array[] {
    return [noBytes, ...this.#columns.flatMap((column) => column.buffers())];
  }

  #accepts(row: object): boolean {
    const prototype: unknown = Object.getPrototypeOf(row);
    if (prototype !== this.#prototype && !isRow(row)) return false;
    this.#prototype = prototype;
    return true;
  }
}

// Maximum number of functions in a chain. A row's `push` needs a stack frame for each of them, and 10,000 overflowed the stack.
const chainMax = 256;

/**
 * Returns a function that pushes a row. There is one function per column, and each calls the next one. A loop over the columns would call
 * builders of every class from one place in the code, which costs three times as much per row. Only wide rows have several chains.
 */
function pusherOf(shapes: readonly Shape[], columns: readonly Builder[]): PushRow {
  const chains: PushRow[] = [];
  for (let from = 0; from < columns.length; from += chainMax) {
    let first: PushRow | undefined;
    for (let at = Math.min(columns.length, from + chainMax) - 1; at >= from; at--) {
      first = link(shapes[at]!.name, columns[at]!, first);
    }
    chains.push(first!);
  }
  if (chains.length === 1) return chains[0]!;
  return (row) => {
    for (const pushRow of chains) pushRow(row);
  };
}

function link(name: string, column: Builder, next: PushRow | undefined): PushRow {
  if (name in Object.prototype) {
    return (row) => {
      column.push(notInherited(row, name));
      next?.(row);
    };
  }
  if (next === undefined) return (row) => column.push(row[name]);
  return (row) => {
    column.push(row[name]);
    next(row);
  };
}

/**
 * Reads a property whose name every object inherits, such as `constructor`. The property counts only if the row itself has it, or if the
 * row's class has a getter for it.
 */
function notInherited(row: Record<string, unknown>, name: string): unknown {
  for (let at: object | null = row; at !== null && at !== Object.prototype; at = Object.getPrototypeOf(at)) {
    const found = Object.getOwnPropertyDescriptor(at, name);
    if (found) return at === row || found.get ? row[name] : undefined;
  }
  return undefined;
}

function builderOf(path: string, shape: Shape, growth: Growth): Builder {
  const plain = plainBuilder(path, shape, growth);
  return shape.nullable ? nullableBuilder(plain) : plain;
}

function plainBuilder(path: string, shape: Shape, growth: Growth): Builder {
  switch (shape.kind) {
    case "bool":
      return new BitBuilder(path);
    case "text":
      return shape.dictionary ? new CodeBuilder(path, growth) : new TextBuilder(path, growth);
    case "bytes":
      return new BytesBuilder(path, growth);
    case "timestamp":
      return new TimeBuilder(path, shape.unit);
    case "date":
      return new DateBuilder(path);
    case "list":
      return new ListBuilder(path, shape.of, growth);
    case "struct":
      return new RowsBuilder(path, shape.columns, growth);
    default:
      return numberBuilder(shape.kind, path);
  }
}
