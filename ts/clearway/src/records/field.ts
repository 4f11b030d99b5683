// SPDX-License-Identifier: MIT OR Apache-2.0
import { checked, object } from "../error/checked.js";
import { invalid } from "./refusal.js";
import {
  checkColumnLimits,
  checkName,
  type ItemKind,
  type KindShape,
  type NumberKind,
  type Shape,
  type TimeUnit,
  units,
} from "./shape.js";

/**
 * The part of a column that is in one chunk, as raw memory. Use parts for loops without a call per row.
 *
 * The arrays are views of the table's memory and stay valid as long as the table. A null row contains 0 or an empty value, so use `isNull`
 * to detect it.
 */
export interface Part {
  readonly length: number;
  /** Returns whether a row is null. `row` counts from the part's first row. */
  isNull(row: number): boolean;
}

/** Row `i` is `values[i]`. */
export interface NumberPart<Values> extends Part {
  readonly values: Values;
}

/** Row `i` is bit `bitOffset + i` of `bits`. The least significant bit of a byte comes first. */
export interface BitPart extends Part {
  readonly bits: Uint8Array;
  readonly bitOffset: number;
}

/** Row `i` is the range of `data` from `offsets[i]` to before `offsets[i + 1]`. */
export interface BytesPart extends Part {
  readonly offsets: Int32Array;
  readonly data: Uint8Array;
}

/** Row `i` is `dictionary[codes[i]]`. The first use of `dictionary` decodes all texts. */
export interface CodePart extends Part {
  readonly codes: Int32Array;
  readonly dictionary: readonly string[];
}

/** A sequence of texts in UTF-8. Text `i` is the range of `data` from `offsets[i]` to before `offsets[i + 1]`. */
export interface Texts {
  readonly offsets: Int32Array;
  readonly data: Uint8Array;
}

/** Row `i` is the range of `values` from `offsets[i]` to before `offsets[i + 1]`. Booleans are bits, and texts are {@link Texts}. */
export interface ListPart<Values> extends Part {
  readonly offsets: Int32Array;
  readonly values: Values;
}

/** The TypeScript types of a column: a read value, a written value, the whole column as one array, and the part in one chunk. */
export interface FieldTypes {
  read: unknown;
  write: unknown;
  flat: unknown;
  part: Part;
}

declare const fieldTypes: unique symbol;

/** The declared type of a column: `u32`, `text()`, `nullable(bool)` and so on. */
export interface Field<Types extends FieldTypes = FieldTypes> {
  /** Exists only for the compiler. */
  readonly [fieldTypes]: Types;
}

/** Columns by name. */
export type Fields = Readonly<Record<string, Field>>;

type Simple<Read, Flat, P extends Part, Write = Read> = Field<{ read: Read; write: Write; flat: Flat; part: P }>;
type Numbers<Values> = Simple<number, Values, NumberPart<Values>>;
type BigInts<Values> = Simple<bigint, Values, NumberPart<Values>>;

/** The class of typed array for each kind of number. */
interface ArrayOf {
  i8: Int8Array;
  i16: Int16Array;
  i32: Int32Array;
  i64: BigInt64Array;
  u8: Uint8Array;
  u16: Uint16Array;
  u32: Uint32Array;
  u64: BigUint64Array;
  f32: Float32Array;
  f64: Float64Array;
}

type NumberField<K extends NumberKind> = K extends "i64" | "u64" ? BigInts<ArrayOf[K]> : Numbers<ArrayOf[K]>;

interface Declared {
  shape: KindShape;
  nullable: boolean;
}

// The run-time data of each field. The data is not a property of the field, so that other code cannot depend on the data.
const declared = new WeakMap<object, Declared>();

function field<F>(shape: KindShape, isNullable = false): F {
  const made = Object.freeze({ kind: shape.kind });
  declared.set(made, { shape, nullable: isNullable });
  return made as F;
}

const number = <K extends NumberKind>(kind: K): NumberField<K> => field({ kind });

/** Whole numbers from -128 to 127. The writer rejects a value that is outside this range or has a fraction. Values never wrap. */
export const i8 = /* @__PURE__ */ number("i8");
/** Signed whole numbers of 16 bits. */
export const i16 = /* @__PURE__ */ number("i16");
/** Signed whole numbers of 32 bits. */
export const i32 = /* @__PURE__ */ number("i32");
/** Signed whole numbers of 64 bits, as `bigint`. */
export const i64 = /* @__PURE__ */ number("i64");
/** Whole numbers from 0 to 255. */
export const u8 = /* @__PURE__ */ number("u8");
/** Unsigned whole numbers of 16 bits. */
export const u16 = /* @__PURE__ */ number("u16");
/** Unsigned whole numbers of 32 bits. */
export const u32 = /* @__PURE__ */ number("u32");
/** Unsigned whole numbers of 64 bits, as `bigint`. */
export const u64 = /* @__PURE__ */ number("u64");
/** Single-precision numbers. A written value is rounded to the nearest single-precision number. */
export const f32 = /* @__PURE__ */ number("f32");
/** Double-precision numbers, like JavaScript's own numbers. */
export const f64 = /* @__PURE__ */ number("f64");
/** Booleans, stored in one bit each. */
export const bool: Simple<boolean, boolean[], BitPart> = /* @__PURE__ */ field({ kind: "bool" });
/** Bytes. A read does not copy: it returns a view of the table's memory, which is valid as long as the table. */
export const bytes: Simple<Uint8Array, Uint8Array[], BytesPart> = /* @__PURE__ */ field({ kind: "bytes" });

/**
 * Text, stored as UTF-8. Lone surrogates become U+FFFD.
 *
 * With `dictionary`, each chunk stores every distinct text once, and each row stores the number of its text. Each text is then decoded
 * once per chunk. Use a dictionary for columns with few distinct values.
 */
export function text(options: { dictionary: true }): Simple<string, string[], CodePart>;
export function text(options?: { dictionary?: false | undefined }): Simple<string, string[], BytesPart>;
export function text(options: { dictionary?: boolean | undefined } = {}): unknown {
  const { dictionary = false } = checked(options, { dictionary: "boolean" });
  return field({ kind: "text", dictionary });
}

/**
 * A moment, as the number of units since 1970 in UTC. `unit` defaults to `"ms"`.
 *
 * Reads return a number of units, or a `bigint` for `ns`. A number of `us` is exact until the year 2255. Writes take the same type, or a
 * `Date` that is a whole number of units.
 */
export function timestamp(options: {
  unit: "ns";
}): Simple<bigint, BigInt64Array, NumberPart<BigInt64Array>, bigint | Date>;
export function timestamp(options?: {
  unit?: "s" | "ms" | "us" | undefined;
}): Simple<number, number[], NumberPart<BigInt64Array>, number | Date>;
export function timestamp(options: { unit?: TimeUnit | undefined } = {}): unknown {
  const { unit = "ms" } = checked(options, { unit: units });
  return field({ kind: "timestamp", unit });
}

/**
 * A calendar day without a time or time zone, as the number of days since 1970-01-01. Arrow's Date32 is the same type.
 *
 * Writes take that number, or a `Date` at midnight in UTC, such as `new Date(days * 86_400_000)`.
 */
export const date: Simple<number, Int32Array, NumberPart<Int32Array>, number | Date> = /* @__PURE__ */ field({
  kind: "date",
});

/** Makes a column nullable. Reads may then return `null`, and writes also take `null` and `undefined`. */
export function nullable<T extends FieldTypes>(
  of: Field<T>,
): Field<{
  read: T["read"] | null;
  write: T["write"] | null | undefined;
  flat: (T["read"] | null)[];
  part: T["part"];
}> {
  return field(declaredOf("nullable", of).shape, true);
}

/**
 * A list in each row, of numbers, booleans, or texts without a dictionary.
 *
 * For numbers, a read returns a typed array that is a view of the table's memory. For booleans and texts, each read returns a new array.
 */
export function list<
  T extends {
    read: number | bigint | boolean | string;
    write: unknown;
    flat: unknown;
    part: NumberPart<unknown> | BitPart | BytesPart;
  },
>(
  of: Field<T>,
): Simple<
  T["flat"],
  T["flat"][],
  ListPart<T["part"] extends BitPart ? Uint8Array : T["part"] extends BytesPart ? Texts : T["flat"]>,
  ArrayLike<T["write"]>
> {
  const { shape, nullable: withNulls } = declaredOf("list", of);
  const coded = shape.kind === "text" && shape.dictionary;
  if (withNulls || coded || ["bytes", "timestamp", "date", "list", "struct"].includes(shape.kind)) {
    const given = withNulls ? `nullable(${shape.kind})` : coded ? "text({ dictionary: true })" : shape.kind;
    throw invalid("list()", "of numbers, bool or text(), not nullable", given);
  }
  return field({ kind: "list", of: shape.kind as ItemKind });
}

/** A column that contains other columns. */
export function struct<F extends Fields>(fields: F): Simple<RowOf<F>, RowOf<F>[], Part, WriteOf<F>> {
  return field({ kind: "struct", columns: shapesOf(fields) });
}

/** The type of a row that a reader gets. */
export type RowOf<F extends Fields> = { readonly [Name in keyof F]: ReadOf<F[Name]> };
/** The type of a row that a writer takes. Nullable columns may be omitted. */
export type WriteOf<F extends Fields> = {
  readonly [Name in keyof F as undefined extends TypesOf<F[Name]>["write"] ? never : Name]: TypesOf<F[Name]>["write"];
} & {
  readonly [Name in keyof F as undefined extends TypesOf<F[Name]>["write"] ? Name : never]?: TypesOf<F[Name]>["write"];
};

/** The type of a column's values for readers. */
export type ReadOf<F> = TypesOf<F>["read"];
export type TypesOf<F> = F extends Field<infer Types> ? Types : never;

/** Returns the columns of a declaration as data. Throws `invalid-argument`. */
export function shapesOf(fields: Fields): Shape[] {
  const entries = Object.entries(object("fields", fields));
  if (entries.length === 0) throw invalid("fields", "at least one column", "none");
  const shapes = entries.map(([name, each]) => {
    checkName(name);
    const { shape, nullable: isNullable } = declaredOf(name, each);
    return { name, nullable: isNullable, ...shape };
  });
  checkColumnLimits(shapes);
  return shapes;
}

function declaredOf(name: string, value: unknown): Declared {
  const found = typeof value === "object" && value !== null ? declared.get(value) : undefined;
  if (found) return found;
  throw invalid(`the column ${JSON.stringify(name)}`, "a type such as u32, text() or nullable(bool)", value);
}
