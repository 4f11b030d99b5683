// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError } from "../../error/clearway-error.js";

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
const typeNames: readonly TypeName[] = [
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

/**
 * A validated type, for validators and code generators. References to the schema's named types are resolved. `name` is the name
 * of such a type.
 */
export type TypeShape =
  | { readonly kind: TypeName }
  | { readonly kind: "list" | "map" | "nullable"; readonly of: TypeShape }
  | { readonly kind: "struct"; readonly fields: readonly FieldShape[]; readonly name?: string }
  | { readonly kind: "one-of"; readonly texts: readonly string[]; readonly name?: string };

/** One field of a struct, read from a schema. */
export interface FieldShape {
  readonly name: string;
  readonly type: TypeShape;
}

// Maximum nesting of a type. Real schemas stay far below it. The limit keeps a hostile schema from exhausting the stack. It is
// lower than the codec's default limit of 128.
const depthMax = 32;

/** Reads types from data of unknown origin. Throws `invalid-argument` with the path of the invalid part. */
export class TypeReader {
  readonly #types: Record<string, unknown>;
  readonly #known = new Map<string, TypeShape | "open">();

  constructor(types: Record<string, unknown>) {
    this.#types = types;
  }

  read(value: unknown, path: string, depth = 0): TypeShape {
    if (depth > depthMax) throw schemaError(path, `nested at most ${depthMax} deep`, "…");
    if (typeof value === "string") {
      if ((typeNames as readonly string[]).includes(value)) return { kind: value as TypeName };
      const hint = Object.hasOwn(this.#types, value) ? `{ ref: ${JSON.stringify(value)} }` : typeNames.join(", ");
      throw schemaError(path, hint.startsWith("{") ? hint : `one of ${hint}`, value);
    }
    const [[form, of] = [], ...others] = Object.entries(objectOf(value, path));
    if (form === undefined || others.length > 0)
      throw schemaError(
        path,
        "a type's name or an object with one property: list, map, struct, nullable, oneOf, ref",
        value,
      );
    switch (form) {
      case "list":
      case "map":
        return { kind: form, of: this.read(of, `${path}.${form}`, depth + 1) };
      case "nullable":
        return { kind: form, of: this.#nullable(of, `${path}.nullable`, depth) };
      case "struct":
        return { kind: form, fields: this.fields(of, `${path}.struct`, depth) };
      case "oneOf":
        return { kind: "one-of", texts: textsOf(of, `${path}.oneOf`) };
      case "ref":
        return this.named(of, `${path}.ref`, depth);
      default:
        throw schemaError(path, "one of list, map, struct, nullable, oneOf, ref", form);
    }
  }

  /** Returns the schema's type with this name. */
  named(name: unknown, path: string, depth = 0): TypeShape {
    if (typeof name !== "string" || !Object.hasOwn(this.#types, name))
      throw schemaError(
        path,
        `one of the schema's types: ${Object.keys(this.#types).join(", ") || "it has none"}`,
        name,
      );
    const known = this.#known.get(name);
    // A reference is replaced by the type that it names. For a type that contains itself, this replacement would never end.
    if (known === "open") throw schemaError(path, "a type that does not hold itself", name);
    if (known !== undefined) return known;
    this.#known.set(name, "open");
    const shape = this.read(this.#types[name], `types.${name}`, depth + 1);
    const named = (shape.kind === "struct" || shape.kind === "one-of") && !shape.name ? { ...shape, name } : shape;
    this.#known.set(name, named);
    return named;
  }

  fields(value: unknown, path: string, depth: number): FieldShape[] {
    const entries = Object.entries(objectOf(value, path));
    return entries.map(([name, type]) => ({
      name: nameOf(name, path),
      type: this.read(type, `${path}.${name}`, depth + 1),
    }));
  }

  #nullable(value: unknown, path: string, depth: number): TypeShape {
    const of = this.read(value, path, depth + 1);
    if (["nullable", "null", "any"].includes(of.kind)) throw schemaError(path, "a type that has no null yet", of.kind);
    return of;
  }
}

/** Returns the error for an invalid schema. Its message says what the value at `path` must be. */
function schemaError(path: string, must: string, value: unknown): ClearwayError {
  let text: string | undefined;
  try {
    text = JSON.stringify(value)?.slice(0, 60);
  } catch {
    // The value has a cycle or a bigint. The message then names the value's type.
  }
  return new ClearwayError("invalid-argument", `${path} must be ${must}: ${path}=${text ?? typeof value}`);
}

/** Returns the value if it is an object and not a list. Throws `invalid-argument` for any other value. */
function objectOf(value: unknown, path: string): Record<string, unknown> {
  if (value === null || typeof value !== "object" || Array.isArray(value)) throw schemaError(path, "an object", value);
  return value as Record<string, unknown>;
}

/** Returns the name of a method, an event, a type or a field. Throws `invalid-argument` if the name is not valid. */
function nameOf(name: string, path: string): string {
  // Assigning `__proto__` on a plain object changes the object's prototype and adds no property.
  if (name === "" || name.length > nameLengthMax || name === "__proto__")
    throw schemaError(path, `an object whose names have 1 to ${nameLengthMax} characters and are not __proto__`, name);
  return name;
}

// C compilers must distinguish at least the first 63 characters of an identifier. The limit is about twice that number.
const nameLengthMax = 128;

function textsOf(value: unknown, path: string): string[] {
  if (!Array.isArray(value) || value.length === 0) throw schemaError(path, "a list of texts", value);
  const texts = value.map((each, at) => {
    if (typeof each !== "string") throw schemaError(`${path}[${at}]`, "a text", each);
    return each;
  });
  if (new Set(texts).size < texts.length) throw schemaError(path, "a list of different texts", value);
  return texts;
}

/** The methods and events of a channel, as plain data without code. The data can be stored as JSON. */
export interface SchemaData {
  /** Name of the channel on which the methods are called. */
  readonly channel: string;
  /** Named types. A type with a name can be used in several places, with `{ ref: name }`. */
  readonly types?: { readonly [name: string]: Type };
  readonly methods?: { readonly [name: string]: MethodData };
  readonly events?: { readonly [name: string]: EventData };
}

/** One method of a schema. */
export interface MethodData {
  /** Description of the method; generated code contains it. */
  readonly doc?: string;
  /** Type of the method's argument, which is one value, usually a struct. Default: no argument. */
  readonly args?: Type;
  /** Type of the method's result. Default: no result. */
  readonly result?: Type;
}

/** One stream of events of a schema. */
export interface EventData {
  /** Description of the event; generated code contains it. */
  readonly doc?: string;
  /** Type of the argument that a listener sends when it starts. Default: no argument. */
  readonly args?: Type;
  /** Type of an event's value. */
  readonly value: Type;
  /** Name of the event's own channel. Default: the schema's channel, a slash and the event's name. */
  readonly channel?: string;
}

/** A validated method. */
export interface MethodShape {
  readonly name: string;
  readonly doc: string;
  readonly args: TypeShape;
  readonly result: TypeShape;
}

/** A validated event. */
export interface EventShape {
  readonly name: string;
  readonly doc: string;
  readonly channel: string;
  readonly args: TypeShape;
  readonly value: TypeShape;
}

/** A validated schema, with its parts in the order of declaration. */
export interface SchemaShape {
  readonly channel: string;
  /** The schema's named types. References in them are resolved. */
  readonly types: readonly { readonly name: string; readonly type: TypeShape }[];
  readonly methods: readonly MethodShape[];
  readonly events: readonly EventShape[];
}

const nothing = { kind: "null" } as const;

/**
 * Reads a schema from data of unknown origin, such as a JSON file. Throws `invalid-argument` with the path of the invalid part.
 */
export function readSchema(value: unknown): SchemaShape {
  const { channel, types = {}, methods = {}, events = {}, ...others } = objectOf(value, "schema");
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw schemaError("schema", "an object of channel, types, methods, events", unknown);
  const name = channelName(channel, "channel");
  const reader = new TypeReader(objectOf(types, "types") as Record<string, unknown>);
  const each = <T>(
    of: unknown,
    path: string,
    make: (name: string, parts: Record<string, unknown>, path: string) => T,
  ): T[] =>
    Object.entries(objectOf(of, path)).map(([key, parts]) => {
      const at = `${path}.${nameOf(key, path)}`;
      return make(key, objectOf(parts, at), at);
    });
  const typeOf = (type: unknown, path: string): TypeShape => (type === undefined ? nothing : reader.read(type, path));
  return {
    channel: name,
    types: Object.keys(types as object).map((key) => ({
      name: nameOf(key, "types"),
      type: reader.named(key, "types"),
    })),
    methods: each(methods, "methods", (key, { doc, args, result, ...rest }, path) => {
      only(rest, path, "doc, args, result");
      return {
        name: key,
        doc: docOf(doc, path),
        args: typeOf(args, `${path}.args`),
        result: typeOf(result, `${path}.result`),
      };
    }),
    events: each(events, "events", (key, { doc, args, value: held, channel: own, ...rest }, path) => {
      only(rest, path, "doc, args, value, channel");
      return {
        name: key,
        doc: docOf(doc, path),
        channel: own === undefined ? `${name}/${key}` : channelName(own, `${path}.channel`),
        args: typeOf(args, `${path}.args`),
        value: reader.read(held, `${path}.value`),
      };
    }),
  };
}

function only(rest: object, path: string, names: string): void {
  const [other] = Object.keys(rest);
  if (other !== undefined) throw schemaError(path, `an object of ${names}`, other);
}

function docOf(value: unknown, path: string): string {
  if (value !== undefined && typeof value !== "string") throw schemaError(`${path}.doc`, "a text", value);
  return value ?? "";
}

function channelName(value: unknown, path: string): string {
  if (typeof value !== "string" || value === "") throw schemaError(path, "a text that is not empty", value);
  return value;
}
