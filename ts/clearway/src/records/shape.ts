// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError } from "../error/clearway-error.js";
import { invalid, malformed, shown } from "./refusal.js";

/** Kinds of column whose values form a typed array. */
export const numberKinds = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f32", "f64"] as const;
export type NumberKind = (typeof numberKinds)[number];

/** The kinds of a list's items. */
export type ItemKind = NumberKind | "bool" | "text";

/** Units of a timestamp. Timestamps count from 1970-01-01T00:00Z. */
export const units = ["s", "ms", "us", "ns"] as const;
/** Unit of a timestamp: seconds, milliseconds, microseconds or nanoseconds. */
export type TimeUnit = (typeof units)[number];

/** A column as data. A table's message contains shapes, and other languages read them. */
export type Shape = { readonly name: string; readonly nullable: boolean } & KindShape;

export type KindShape =
  | { readonly kind: NumberKind | "bool" | "bytes" | "date" }
  | { readonly kind: "text"; readonly dictionary: boolean }
  | { readonly kind: "timestamp"; readonly unit: TimeUnit }
  | { readonly kind: "list"; readonly of: ItemKind }
  | { readonly kind: "struct"; readonly columns: readonly Shape[] };

// Maximum depth of nested structs. No real table is deeper. The limit prevents a hostile schema from exhausting the stack.
const depthMax = 32;
// Maximum number of columns, and of letters in their names. Structured clone preserves shared lists, and nested structs can share their
// lists: 22 structs in 2,275 bytes had four million columns. A column and its name therefore count once for each occurrence in a row.
const columnsMax = 1 << 16;
const lettersMax = 1 << 22;

/** Counts columns. The columns of a struct count once for each occurrence of the struct. */
export class ColumnCounter {
  #columns = 0;
  #letters = 0;

  /** Adds columns at a depth. Returns a description of the limit that they exceed, or undefined. Takes O(1). */
  addColumns(count: number, depth: number): string | undefined {
    if (depth > depthMax) return `nested deeper than ${depthMax}`;
    this.#columns += count;
    return this.#columns > columnsMax ? `more than ${columnsMax}, those of structs counted` : undefined;
  }

  addName(name: string): string | undefined {
    this.#letters += name.length;
    return this.#letters > lettersMax ? `names of more than ${lettersMax} letters together` : undefined;
  }
}

/**
 * Reads a table's columns from data of unknown origin and returns new plain objects. Throws `protocol`.
 *
 * Reads at most 65,536 columns, even if the lists of columns are longer or shared.
 */
export function readShapes(value: unknown, depth = 0, counter = new ColumnCounter()): Shape[] {
  if (!Array.isArray(value) || value.length === 0) throw malformed("it has no columns");
  const { length } = value;
  const wide = counter.addColumns(length, depth);
  if (wide !== undefined) throw malformed(`its columns are ${wide}`);
  const names = new Set<string>();
  // `Array.from` also visits holes in the list, which `map` would skip.
  return Array.from({ length }, (_, at) => {
    const each: unknown = value[at];
    if (each === null || typeof each !== "object") throw malformed("a column is no object");
    const { name, kind, nullable, dictionary, unit, of, columns } = each as Record<string, unknown>;
    if (typeof name !== "string") throw malformed("a column has no name");
    const long = counter.addName(name);
    if (long !== undefined) throw malformed(`its columns have ${long}`);
    if (isReservedName(name)) throw malformed(`a column is called ${shown(name)}`);
    if (names.has(name)) throw malformed(`two columns are called ${shown(name)}`);
    if (typeof nullable !== "boolean") throw malformed(`column ${shown(name)} does not say whether it is nullable`);
    names.add(name);
    const base = { name, nullable };
    if (isOneOf(numberKinds, kind) || kind === "bool" || kind === "bytes" || kind === "date") {
      return { ...base, kind };
    }
    if (kind === "text" && typeof dictionary === "boolean") return { ...base, kind, dictionary };
    if (kind === "timestamp" && isOneOf(units, unit)) return { ...base, kind, unit };
    if (kind === "list" && (of === "bool" || of === "text" || isOneOf(numberKinds, of))) return { ...base, kind, of };
    if (kind === "struct") return { ...base, kind, columns: readShapes(columns, depth + 1, counter) };
    throw malformed(`column ${shown(name)} is of no known kind`);
  });
}

// Two kinds of name are reserved. `toObjects()` sets a property per column, and setting `__proto__` changes the object's prototype. Names
// that begin with `clearway:` mark the kind of an object in messages.
function isReservedName(name: string): boolean {
  return name === "__proto__" || name.startsWith("clearway:");
}

/** Checks that rows can have this column name. Throws `invalid-argument`. */
export function checkName(name: string): void {
  if (isReservedName(name)) throw invalid("a column's name", "another one", name);
}

/** Checks columns against the limits that {@link readShapes} enforces on the receiving side. Throws `invalid-argument`. */
export function checkColumnLimits(shapes: readonly Shape[], depth = 0, counter = new ColumnCounter()): void {
  const wide = counter.addColumns(shapes.length, depth);
  if (wide !== undefined) throw new ClearwayError("invalid-argument", `the columns are ${wide}`);
  for (const { name, ...kind } of shapes) {
    const long = counter.addName(name);
    if (long !== undefined) throw new ClearwayError("invalid-argument", `the columns have ${long}`);
    if (kind.kind === "struct") checkColumnLimits(kind.columns, depth + 1, counter);
  }
}

/** Returns the number of buffers that the columns have in a chunk. See `layout.ts`. */
export function bufferCount(shapes: readonly Shape[]): number {
  return shapes.reduce((sum, shape) => sum + bufferCountOf(shape), 0);
}

function bufferCountOf(shape: Shape): number {
  switch (shape.kind) {
    case "text":
      return shape.dictionary ? 4 : 3;
    case "bytes":
      return 3;
    case "list":
      return shape.of === "text" ? 4 : 3;
    case "struct":
      return 1 + bufferCount(shape.columns);
    default:
      return 2;
  }
}

function isOneOf<T extends string>(list: readonly T[], value: unknown): value is T {
  return (list as readonly unknown[]).includes(value);
}

/** Describes the first difference between a table's columns and the expected columns. Returns an empty text if they are equal. */
export function difference(have: readonly Shape[], want: readonly Shape[], path = ""): string {
  const named = ({ name }: Shape): string => clipped(path + name);
  for (let at = 0; at < Math.max(have.length, want.length); at++) {
    const [actual, expected] = [have[at], want[at]];
    if (!actual) return `there is no ${named(expected!)}`;
    if (!expected) return `there is a further ${named(actual)}`;
    if (actual.name !== expected.name) return `${named(actual)} stands where ${named(expected)} should`;
    const [actualType, expectedType] = [typeOf(actual), typeOf(expected)];
    if (actualType !== expectedType) return `${named(actual)} is ${actualType}, not ${expectedType}`;
    if (actual.kind === "struct" && expected.kind === "struct") {
      const inner = difference(actual.columns, expected.columns, `${path}${actual.name}.`);
      if (inner !== "") return inner;
    }
  }
  return "";
}

/** Returns a column's type in the form of a declaration. */
function typeOf(shape: Shape): string {
  return shape.nullable ? `nullable(${plainType(shape)})` : plainType(shape);
}

function plainType(shape: Shape): string {
  switch (shape.kind) {
    case "text":
      return shape.dictionary ? "text({ dictionary: true })" : "text()";
    case "timestamp":
      return `timestamp({ unit: "${shape.unit}" })`;
    case "list":
      return `list(${shape.of === "text" ? "text()" : shape.of})`;
    default:
      return shape.kind;
  }
}

// Clips a long name, because a peer chooses the names.
function clipped(name: string): string {
  return name.length > 40 ? shown(name) : name;
}
