// SPDX-License-Identifier: MIT OR Apache-2.0
import { BadValue, shown } from "../refusal.js";
import type { Shape } from "../shape.js";
import { BitBuilder } from "./bits.js";
import { type Builder, type Growth, noBytes } from "./builder.js";
import { CodeBuilder } from "./codes.js";
import { ListBuilder } from "./lists.js";
import { nullableBuilder } from "./nulls.js";
import { numberBuilder } from "./numbers.js";
import { BytesBuilder, TextBuilder } from "./texts.js";
import { DateBuilder, TimeBuilder } from "./times.js";

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
