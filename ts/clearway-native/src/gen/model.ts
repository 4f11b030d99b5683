// SPDX-License-Identifier: MIT OR Apache-2.0
import type { EventShape, MethodShape, SchemaShape, TypeShape } from "clearway/channel";

type Compound = Exclude<TypeShape, { kind: "null" | "bool" | "i32" | "int" | "i64" | "f64" | "text" }> & {
  kind: "struct" | "one-of" | "list" | "map" | "nullable";
};

/** A type that has a name in the generated code. */
export interface NamedType {
  readonly shape: Compound;
  /** The schema's name for the type. A type without a name gets the words of its path in the schema, such as `level args unit`. */
  readonly name: string;
}

/** The input of a generator: the schema and its compound types. Each type comes after the types that it contains. */
export interface Model {
  readonly schema: SchemaShape;
  readonly types: readonly NamedType[];
  nameOf(shape: TypeShape): string;
}

const containers = { list: "list", map: "map", nullable: "or null" } as const;

/** Collects and names the types of a schema. Throws {@link UnsupportedSchemaError} if two types would have the same name. */
export function buildModel(schema: SchemaShape): Model {
  const names = new Map<TypeShape, string>();
  const types = new Map<string, NamedType>();
  const nameOf = (shape: TypeShape): string => names.get(shape) ?? shape.kind;
  /** Whether two types are the same: types with a name by their name, others, such as `text`, by their kind. */
  const isSame = (a: TypeShape, b: TypeShape): boolean =>
    names.has(a) === names.has(b) && nameOf(a) === nameOf(b) && a.kind === b.kind;
  const visit = (shape: TypeShape, place: string): void => {
    if (names.has(shape)) return;
    let name = place;
    if (shape.kind === "struct") {
      name = shape.name ?? place;
      for (const field of shape.fields) {
        notNull(field.type, `${name} ${field.name}`);
        visit(field.type, `${name} ${field.name}`);
      }
    } else if (shape.kind === "list" || shape.kind === "map" || shape.kind === "nullable") {
      notNull(shape.of, place);
      visit(shape.of, shape.kind === "nullable" ? place : `${place} ${shape.kind === "list" ? "item" : "value"}`);
      // Containers of the same type share one declared type.
      name = `${nameOf(shape.of)} ${containers[shape.kind]}`;
    } else if (shape.kind === "one-of") name = shape.name ?? place;
    else return;
    names.set(shape, name);
    const known = types.get(name)?.shape;
    if (known === undefined) types.set(name, { shape: shape as Compound, name });
    else if (!("of" in known && "of" in shape && known.kind === shape.kind && isSame(known.of, shape.of)))
      throw new UnsupportedSchemaError(
        `two types would both be called ${name}; give one of them another name in the schema's types`,
      );
  };
  for (const { name, type } of schema.types) visit(type, name);
  for (const each of schema.methods) visitParts(each, visit, ["args", "result"]);
  for (const each of schema.events) visitParts(each, visit, ["args", "value"]);
  return { schema, types: [...types.values()], nameOf };
}

function visitParts<T extends MethodShape | EventShape>(
  each: T,
  visit: (shape: TypeShape, place: string) => void,
  parts: (keyof T & string)[],
): void {
  for (const part of parts) visit(each[part] as TypeShape, `${each.name} ${part}`);
}

function notNull(shape: TypeShape, place: string): void {
  if (shape.kind === "null")
    throw new UnsupportedSchemaError(
      `${place}: the type null says nothing there; as arguments or a result it says that there are none`,
    );
}

/** Returns the words of a name, in lower case. `batteryLevel`, `battery-level` and `battery/level` have the same two words. */
export function words(name: string): string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replace(/([A-Z]+)([A-Z][a-z])/g, "$1 $2")
    .split(/[^A-Za-z0-9]+/)
    .filter((word) => word !== "")
    .map((word) => word.toLowerCase());
}

// The reserved words of C, C++ and Rust, and the macros that C compilers for Linux or <errno.h> define. They are one set, so that a
// schema has the same names in all languages.
const reservedWords = new Set(
  (
    "abstract alignas alignof and and_eq as asm async auto await become bitand bitor bool box break case catch char char16_t " +
    "char32_t char8_t class co_await co_return co_yield compl concept const const_cast consteval constexpr constinit continue crate " +
    "decltype default delete do double dyn dynamic_cast else enum errno explicit export extern false final float fn for friend gen " +
    "goto i386 if impl in inline int let linux long loop macro match mod move mut mutable namespace new noexcept not not_eq null " +
    "nullptr operator or or_eq override priv private protected pub public ref register reinterpret_cast requires restrict return " +
    "self short signed sizeof static static_assert static_cast struct super switch template this thread_local throw trait true try " +
    "type typedef typeid typename typeof typeof_unqual union unix unsafe unsigned unsized use using virtual void volatile wchar_t " +
    "where while xor xor_eq yield"
  ).split(" "),
);

/** Returns the name of a field, a function or a parameter: `battery_level`. */
export function snake(name: string): string {
  const joined = words(name).join("_");
  if (joined === "") return "value";
  return reservedWords.has(joined) || /^\d/.test(joined) ? `${joined}_` : joined;
}

/** Returns the name of a type or of an enumerator: `BatteryLevel`. */
export function pascal(name: string): string {
  const joined = words(name)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join("");
  return joined === "" || /^\d/.test(joined) ? `N${joined}` : joined === "Self" ? "Self_" : joined;
}

/** Returns the name of a constant: `BATTERY_LEVEL`. */
export function screamingSnake(name: string): string {
  return words(name).join("_").toUpperCase() || "VALUE";
}

/** The names that the generated code already uses in one scope. Each name can be used once. */
export class UniqueNames {
  readonly #uses = new Map<string, string>();

  /**
   * Reserves a name and returns it. `use` describes its use for the error, such as `methods.level`. Throws {@link
   * UnsupportedSchemaError} if the name is in use.
   */
  reserve(name: string, use: string): string {
    const other = this.#uses.get(name);
    if (other !== undefined)
      throw new UnsupportedSchemaError(`${use} and ${other} would both be called ${name}; rename one of them`);
    this.#uses.set(name, use);
    return name;
  }
}

/** The error for a valid schema for which no code can be generated. */
export class UnsupportedSchemaError extends Error {}

/** Characters that change the direction of the text around them. Rust refuses them in literals and comments. */
export const directions = /[\u202a-\u202e\u2066-\u2069]/g;

/** Quotes a text as JSON, in one line. Throws if UTF-8 cannot represent the text. */
export function quoted(text: string): string {
  if (/\p{Surrogate}/u.test(text))
    throw new UnsupportedSchemaError(`half of a surrogate pair has no UTF-8: ${JSON.stringify(text)}`);
  return JSON.stringify(text).replace(
    /[\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g,
    (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
