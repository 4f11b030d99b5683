// SPDX-License-Identifier: MIT OR Apache-2.0

/** TypeScript types for each type name: `read` is the type that the program receives, `write` the type that it may send. */
export interface NamedTypes {
  /** Any value that the codec can encode. */
  any: { read: unknown; write: unknown };
  /** No value. It is read as `null`. The program may write `null` or `undefined`. */
  null: { read: null; write: null | undefined };
  bool: { read: boolean; write: boolean };
  /** A signed whole number of 32 bits. */
  i32: { read: number; write: number };
  /**
   * A safe integer (more than -2^53 and less than 2^53), as `number`. Languages with 64-bit integers use a signed 64-bit
   * integer.
   */
  int: { read: number; write: number };
  /** A signed whole number of 64 bits. */
  i64: { read: bigint; write: bigint | number };
  /**
   * A number. It is encoded as a float even if it is whole, because receivers in other languages distinguish integers from
   * floats.
   */
  f64: { read: number; write: number };
  text: { read: string; write: string };
  bytes: { read: Uint8Array; write: Uint8Array };
  /** A list of numbers, as a typed array. So are the next three types. */
  i32s: { read: Int32Array; write: Int32Array };
  i64s: { read: BigInt64Array; write: BigInt64Array };
  f32s: { read: Float32Array; write: Float32Array };
  f64s: { read: Float64Array; write: Float64Array };
}

/** The name of a type that needs no parameter. */
export type TypeName = keyof NamedTypes;

/** All type names, for checks at run time. */
export const typeNames: readonly TypeName[] = [
  "any",
  "null",
  "bool",
  "i32",
  "int",
  "i64",
  "f64",
  "text",
  "bytes",
  "i32s",
  "i64s",
  "f32s",
  "f64s",
];

/**
 * The type of a value, as plain data that can be stored as JSON. It is a name, or an object with one property for a composed
 * type.
 */
export type Type =
  | TypeName
  | { readonly list: Type }
  /** A map from texts to values of one type. */
  | { readonly map: Type }
  | { readonly struct: StructFields }
  | { readonly nullable: Type }
  /** One of these texts. */
  | { readonly oneOf: readonly string[] }
  /** The type with this name in the schema's `types`. */
  | { readonly ref: string };

/** The fields of a struct, by name. */
export type StructFields = { readonly [name: string]: Type };

/** TypeScript type of a value that the program reads, for the schema type `T`. `Types` are the schema's named types. */
export type ReadOf<T, Types = unknown> = T extends TypeName
  ? NamedTypes[T]["read"]
  : T extends { readonly list: infer Item }
    ? ReadOf<Item, Types>[]
    : T extends { readonly map: infer Value }
      ? { readonly [key: string]: ReadOf<Value, Types> }
      : T extends { readonly struct: infer Fields }
        ? { readonly [Name in keyof Fields]: ReadOf<Fields[Name], Types> }
        : T extends { readonly nullable: infer Some }
          ? ReadOf<Some, Types> | null
          : T extends { readonly oneOf: readonly (infer Text)[] }
            ? Text
            : T extends { readonly ref: infer Name }
              ? Name extends keyof Types
                ? ReadOf<Types[Name], Types>
                : never
              : never;

/** TypeScript type of a value that the program may write, for the schema type `T`. Nullable fields may be omitted. */
export type WriteOf<T, Types = unknown> = T extends TypeName
  ? NamedTypes[T]["write"]
  : T extends { readonly list: infer Item }
    ? readonly WriteOf<Item, Types>[]
    : T extends { readonly map: infer Value }
      ? { readonly [key: string]: WriteOf<Value, Types> }
      : T extends { readonly struct: infer Fields }
        ? WriteFields<Fields, Types>
        : T extends { readonly nullable: infer Some }
          ? WriteOf<Some, Types> | null | undefined
          : T extends { readonly oneOf: readonly (infer Text)[] }
            ? Text
            : T extends { readonly ref: infer Name }
              ? Name extends keyof Types
                ? WriteOf<Types[Name], Types>
                : never
              : never;

type WriteFields<Fields, Types> = {
  readonly [Name in keyof Fields as undefined extends WriteOf<Fields[Name], Types> ? never : Name]: WriteOf<
    Fields[Name],
    Types
  >;
} & {
  readonly [Name in keyof Fields as undefined extends WriteOf<Fields[Name], Types> ? Name : never]?: WriteOf<
    Fields[Name],
    Types
  >;
};
