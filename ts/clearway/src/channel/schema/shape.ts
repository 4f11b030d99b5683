// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError } from "../../error/clearway-error.js";
import { type TypeName, typeNames } from "./type.js";

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
export function schemaError(path: string, must: string, value: unknown): ClearwayError {
  let text: string | undefined;
  try {
    text = JSON.stringify(value)?.slice(0, 60);
  } catch {
    // The value has a cycle or a bigint. The message then names the value's type.
  }
  return new ClearwayError("invalid-argument", `${path} must be ${must}: ${path}=${text ?? typeof value}`);
}

/** Returns the value if it is an object and not a list. Throws `invalid-argument` for any other value. */
export function objectOf(value: unknown, path: string): Record<string, unknown> {
  if (value === null || typeof value !== "object" || Array.isArray(value)) throw schemaError(path, "an object", value);
  return value as Record<string, unknown>;
}

/** Returns the name of a method, an event, a type or a field. Throws `invalid-argument` if the name is not valid. */
export function nameOf(name: string, path: string): string {
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
