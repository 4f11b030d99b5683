// SPDX-License-Identifier: MIT OR Apache-2.0
import { invalid } from "../error/clearway-error.js";
import { malformed } from "./refusal.js";

/** Kinds whose values stand side by side in a typed array. */
export const numberKinds = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f32", "f64"] as const;
export type NumberKind = (typeof numberKinds)[number];

/** What a list may hold. */
export type ItemKind = NumberKind | "bool";

/** Ticks a timestamp counts, since 1970-01-01T00:00Z. */
export const units = ["s", "ms", "us", "ns"] as const;
export type TimeUnit = (typeof units)[number];

/** A column as data: what crosses with a table, and what other languages read. */
export type Shape = { readonly name: string; readonly nullable: boolean } & KindShape;

export type KindShape =
  | { readonly kind: NumberKind | "bool" | "bytes" }
  | { readonly kind: "text"; readonly dictionary: boolean }
  | { readonly kind: "timestamp"; readonly unit: TimeUnit }
  | { readonly kind: "list"; readonly of: ItemKind }
  | { readonly kind: "struct"; readonly columns: readonly Shape[] };

// Deeper nesting than any table of people's has; keeps a hostile schema from exhausting the stack.
const depthMax = 32;

/**
 * Reads a table's columns from data of unknown origin, as new plain objects. Throws `protocol`. Allocates in proportion
 * to what is there.
 */
export function readShapes(value: unknown, depth = 0): Shape[] {
  if (!Array.isArray(value) || value.length === 0) throw malformed("it has no columns");
  if (depth > depthMax) throw malformed(`its columns are nested deeper than ${depthMax}`);
  const names = new Set<string>();
  return value.map((each: unknown) => {
    if (each === null || typeof each !== "object") throw malformed("a column is no object");
    const { name, kind, nullable, dictionary, unit, of, columns } = each as Record<string, unknown>;
    if (typeof name !== "string") throw malformed("a column has no name");
    if (name === refusedName) throw malformed(`a column is called ${name}`);
    if (names.has(name)) throw malformed(`two columns are called ${JSON.stringify(name)}`);
    if (typeof nullable !== "boolean")
      throw malformed(`column ${JSON.stringify(name)} does not say whether it is nullable`);
    names.add(name);
    const base = { name, nullable };
    if (isOneOf(numberKinds, kind) || kind === "bool" || kind === "bytes") return { ...base, kind };
    if (kind === "text" && typeof dictionary === "boolean") return { ...base, kind, dictionary };
    if (kind === "timestamp" && isOneOf(units, unit)) return { ...base, kind, unit };
    if (kind === "list" && (of === "bool" || isOneOf(numberKinds, of))) return { ...base, kind, of };
    if (kind === "struct") return { ...base, kind, columns: readShapes(columns, depth + 1) };
    throw malformed(`column ${JSON.stringify(name)} is of no known kind`);
  });
}

// Setting it on a plain object, as toObjects() would, changes the object's prototype instead.
const refusedName = "__proto__";

/** Refuses the one name that no row can carry. */
export function checkName(name: string): void {
  if (name === refusedName) throw invalid("a column's name", "another one", name);
}

/** How many buffers the columns have in a chunk. See `layout.ts`. */
export function bufferCount(shapes: readonly Shape[]): number {
  return shapes.reduce((sum, shape) => sum + bufferCountOf(shape), 0);
}

function bufferCountOf(shape: Shape): number {
  switch (shape.kind) {
    case "text":
      return shape.dictionary ? 4 : 3;
    case "bytes":
    case "list":
      return 3;
    case "struct":
      return 1 + bufferCount(shape.columns);
    default:
      return 2;
  }
}

function isOneOf<T extends string>(list: readonly T[], value: unknown): value is T {
  return (list as readonly unknown[]).includes(value);
}
