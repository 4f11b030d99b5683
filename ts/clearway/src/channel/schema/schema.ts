// SPDX-License-Identifier: MIT OR Apache-2.0
import { nameOf, objectOf, schemaError, TypeReader, type TypeShape } from "./shape.js";
import type { Type } from "./type.js";

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
