// SPDX-License-Identifier: MIT OR Apache-2.0
import type { EventShape, MethodShape, SchemaShape, TypeShape } from "clearway/channel";
import { UnsupportedSchemaError } from "./names.js";

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
