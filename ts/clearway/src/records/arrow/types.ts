// SPDX-License-Identifier: MIT OR Apache-2.0
import type { DataType, Field } from "apache-arrow";
import { ClearwayError } from "../../error/clearway-error.js";
import { checkName, type ItemKind, type KindShape, type NumberKind, type Shape, units } from "../shape.js";
import type { Arrow } from "./load.js";

// Arrow's name for each kind of number.
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

/** Our columns as Arrow's fields. A dictionary's type has an identity, so they are made once a table. */
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

/** The type of a list's items. */
export function itemType(arrow: Arrow, kind: ItemKind): DataType {
  return kind === "bool" ? new arrow.Bool() : new arrow[numbers[kind]]();
}

/**
 * Arrow's fields as our columns. Where `wanted` has a column of that name it says whether nulls are allowed: most writers
 * of Arrow call every field nullable. Throws `invalid-argument` for a type that tables do not have.
 */
export function shapesFrom(arrow: Arrow, fields: readonly Field[], wanted?: readonly Shape[]): Shape[] {
  return fields.map((field) => {
    checkName(field.name);
    const match = wanted?.find(({ name }) => name === field.name);
    const inner = match?.kind === "struct" ? match.columns : undefined;
    const nullable = match?.nullable ?? field.nullable;
    return { name: field.name, nullable, ...kindFrom(arrow, field, inner) };
  });
}

function kindFrom(arrow: Arrow, field: Field, wanted: readonly Shape[] | undefined): KindShape {
  const { DataType } = arrow;
  const type: DataType = field.type;
  const number = numberFrom(arrow, type);
  if (number) return { kind: number };
  if (DataType.isBool(type)) return { kind: "bool" };
  if (DataType.isUtf8(type)) return { kind: "text", dictionary: false };
  if (DataType.isBinary(type)) return { kind: "bytes" };
  if (DataType.isTimestamp(type)) return { kind: "timestamp", unit: units[type.unit] ?? "ms" };
  if (DataType.isDictionary(type) && DataType.isUtf8(type.dictionary)) return { kind: "text", dictionary: true };
  if (DataType.isStruct(type)) return { kind: "struct", columns: shapesFrom(arrow, type.children, wanted) };
  if (DataType.isList(type)) {
    const of = DataType.isBool(type.valueType) ? "bool" : numberFrom(arrow, type.valueType);
    if (of) return { kind: "list", of };
  }
  throw new ClearwayError("invalid-argument", `tables have no columns of Arrow's type ${type}: ${field.name}`);
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
