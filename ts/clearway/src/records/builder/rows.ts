// SPDX-License-Identifier: MIT OR Apache-2.0
import { BadValue } from "../refusal.js";
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

/** Collects rows with several columns: the rows of a table, or the values of a struct column. */
export class RowsBuilder implements Builder {
  readonly #columns: readonly Builder[];
  readonly #pushRow: PushRow;

  constructor(
    readonly path: string,
    shapes: readonly Shape[],
    growth: Growth,
  ) {
    const pathOf = (name: string): string => (path === "" ? name : `${path}.${name}`);
    this.#columns = shapes.map((shape) => builderOf(pathOf(shape.name), shape, growth));
    this.#pushRow = chain(shapes, this.#columns);
  }

  get bytes(): number {
    return this.#columns.reduce((sum, column) => sum + column.bytes, 0);
  }

  push(row: unknown): void {
    if (row === null || typeof row !== "object") throw new BadValue(this.path || "the row", "an object", row);
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
}

/**
 * Returns the first of a chain of functions. There is one function per column, and each calls the next one. A loop over the columns would
 * call builders of every class from one place in the code, which costs three times as much per row.
 */
function chain(shapes: readonly Shape[], columns: readonly Builder[]): PushRow {
  let pushRow: PushRow | undefined;
  for (let at = columns.length - 1; at >= 0; at--) pushRow = link(shapes[at]!.name, columns[at]!, pushRow);
  return pushRow!;
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
