// SPDX-License-Identifier: MIT OR Apache-2.0

import type { DataType, Field } from "apache-arrow";
import { ClearwayError, caused } from "../../error/clearway-error.js";
import { checkName, type ItemKind, type KindShape, type NumberKind, type Shape, units } from "../shape.js";

export type Arrow = typeof import("apache-arrow");

let registered: Arrow | undefined;

/** Gives the package to {@link loadArrow}. For bundles, in which it has no place of its own. */
export function registerArrow(arrow: Arrow): void {
  registered = arrow;
}

/** Returns the registered package, or else loads the optional package on first use. Throws `missing-package`. */
export async function loadArrow(): Promise<Arrow> {
  try {
    return registered ?? (await load<Arrow>("apache-arrow"));
  } catch (reason) {
    throw caused(
      "missing-package",
      'Arrow tables need the package apache-arrow: npm install apache-arrow; a bundle also needs import "clearway/records/arrow"',
      reason,
    );
  }
}

// Not a literal, and with comments for bundlers: every app that receives a table bundles this file, and most have no such package.
const load = <T>(name: string): Promise<T> => import(/* @vite-ignore */ /* webpackIgnore: true */ name);

// Arrow's class name for each kind of number.
const numbers = {
  i8: "Int8",
  i16: "Int16",
  i32: "Int32",
  i64: "Int64",
  u8: "Uint8",
  u16: "Uint16",
  u32: "Uint32",
  u64: "Uint64",
  f32: "Float32",
  f64: "Float64",
} as const;

/** Converts columns to Arrow's fields. Call this once per table, because each call gives the dictionary types new identities. */
export function arrowFields(arrow: Arrow, shapes: readonly Shape[]): Field[] {
  return shapes.map((shape) => new arrow.Field(shape.name, arrowType(arrow, shape), shape.nullable));
}

function arrowType(arrow: Arrow, shape: Shape): DataType {
  switch (shape.kind) {
    case "bool":
      return new arrow.Bool();
    case "text":
      return shape.dictionary ? new arrow.Dictionary(new arrow.Utf8(), new arrow.Int32()) : new arrow.Utf8();
    case "bytes":
      return new arrow.Binary();
    case "date":
      return new arrow.DateDay();
    case "timestamp":
      return new arrow.Timestamp(units.indexOf(shape.unit), "UTC");
    case "list":
      return new arrow.List(new arrow.Field("item", itemType(arrow, shape.of), false));
    case "struct":
      return new arrow.Struct(arrowFields(arrow, shape.columns));
    default:
      return new arrow[numbers[shape.kind]]();
  }
}

/** Returns the Arrow type of a list's items. */
export function itemType(arrow: Arrow, kind: ItemKind): DataType {
  if (kind === "text") return new arrow.Utf8();
  return kind === "bool" ? new arrow.Bool() : new arrow[numbers[kind]]();
}

/**
 * Converts Arrow's fields to columns.
 *
 * Most Arrow writers declare every field nullable. If `wanted` has a column of the same name, that column therefore decides whether nulls
 * are allowed. Throws `invalid-argument` for a type that tables do not support. The error names the column and its type.
 */
export function shapesFrom(arrow: Arrow, fields: readonly Field[], wanted?: readonly Shape[], path = ""): Shape[] {
  return fields.map((field) => {
    checkName(field.name);
    const match = wanted?.find(({ name }) => name === field.name);
    const inner = match?.kind === "struct" ? match.columns : undefined;
    const nullable = match?.nullable ?? field.nullable;
    return { name: field.name, nullable, ...kindFrom(arrow, path + field.name, field.type, inner) };
  });
}

function kindFrom(arrow: Arrow, column: string, type: DataType, wanted: readonly Shape[] | undefined): KindShape {
  const { DataType } = arrow;
  const number = numberFrom(arrow, type);
  if (number) return { kind: number };
  if (DataType.isBool(type)) return { kind: "bool" };
  if (isText(arrow, type)) return { kind: "text", dictionary: false };
  if (isBytes(arrow, type)) return { kind: "bytes" };
  if (DataType.isDate(type)) return { kind: "date" };
  if (DataType.isTimestamp(type)) return { kind: "timestamp", unit: units[type.unit] ?? "ms" };
  if (DataType.isDictionary(type) && isText(arrow, type.dictionary)) return { kind: "text", dictionary: true };
  if (DataType.isStruct(type)) {
    return { kind: "struct", columns: shapesFrom(arrow, type.children, wanted, `${column}.`) };
  }
  // Older versions of apache-arrow lack `isLargeList`.
  if (DataType.isList(type) || DataType.isLargeList?.(type)) {
    const item: DataType | undefined = type.children[0]?.type;
    const of = item && (DataType.isBool(item) ? "bool" : isText(arrow, item) ? "text" : numberFrom(arrow, item));
    if (of) return { kind: "list", of };
  }
  throw unsupported(column, `columns of Arrow's type ${type}`, String(type));
}

/** Returns whether the type is text, with 32-bit or 64-bit offsets or as views. */
function isText({ DataType }: Arrow, type: DataType): boolean {
  // Older versions of apache-arrow lack `isUtf8View`.
  return DataType.isUtf8(type) || DataType.isLargeUtf8(type) || DataType.isUtf8View?.(type);
}

function isBytes({ DataType }: Arrow, type: DataType): boolean {
  // Older versions of apache-arrow lack `isBinaryView`.
  return DataType.isBinary(type) || DataType.isLargeBinary(type) || DataType.isBinaryView?.(type);
}

/** Returns the typed error for content that tables do not support. The error also has the properties `column` and `type`. */
export function unsupported(column: string, what: string, type: string): ClearwayError {
  const message = `tables have no ${what}: ${column}. Cast the column to another type, or leave it out.`;
  return Object.assign(new ClearwayError("invalid-argument", message), { column, type });
}

function numberFrom(arrow: Arrow, type: DataType): NumberKind | undefined {
  if (arrow.DataType.isInt(type)) return `${type.isSigned ? "i" : "u"}${type.bitWidth}` as NumberKind;
  if (!arrow.DataType.isFloat(type)) return undefined;
  return type.precision === arrow.Precision.DOUBLE
    ? "f64"
    : type.precision === arrow.Precision.SINGLE
      ? "f32"
      : undefined;
}
