// SPDX-License-Identifier: MIT OR Apache-2.0
import { nameOf, objectOf, TypeReader, type TypeShape, wrong } from "./shape.js";
import type { Type } from "./type.js";

/** The methods and events of a channel, as plain data: JSON can hold it, and nothing in it is run. */
export interface SchemaData {
  /** The name of the channel on which the methods are called. */
  readonly channel: string;
  /** Types with names, for use at several places by `{ ref: name }`. */
  readonly types?: { readonly [name: string]: Type };
  readonly methods?: { readonly [name: string]: MethodData };
  readonly events?: { readonly [name: string]: EventData };
}

export interface MethodData {
  /** What it is for; generated code carries it. */
  readonly doc?: string;
  /** What the method takes: one value, usually a struct. Left out: nothing. */
  readonly args?: Type;
  /** What it gives. Left out: nothing. */
  readonly result?: Type;
}

export interface EventData {
  /** What it is for; generated code carries it. */
  readonly doc?: string;
  /** What a listener says when it begins to listen. Left out: nothing. */
  readonly args?: Type;
  /** What an event holds. */
  readonly value: Type;
  /** The name of the event's own channel. Left out: the schema's channel, a slash, the event's name. */
  readonly channel?: string;
}

/** A method, checked. */
export interface MethodShape {
  readonly name: string;
  readonly doc: string;
  readonly args: TypeShape;
  readonly result: TypeShape;
}

/** An event, checked. */
export interface EventShape {
  readonly name: string;
  readonly doc: string;
  readonly channel: string;
  readonly args: TypeShape;
  readonly value: TypeShape;
}

/** A schema that has been checked: its parts in the order in which they were declared. */
export interface SchemaShape {
  readonly channel: string;
  /** The schema's own types, resolved. */
  readonly types: readonly { readonly name: string; readonly type: TypeShape }[];
  readonly methods: readonly MethodShape[];
  readonly events: readonly EventShape[];
}

const nothing = { kind: "null" } as const;

/** Reads a schema from data of unknown origin, such as a JSON file. Throws `invalid-argument` with the path to what is wrong. */
export function readSchema(value: unknown): SchemaShape {
  const { channel, types = {}, methods = {}, events = {}, ...others } = objectOf(value, "schema");
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw wrong("schema", "an object of channel, types, methods, events", unknown);
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
  if (other !== undefined) throw wrong(path, `an object of ${names}`, other);
}

function docOf(value: unknown, path: string): string {
  if (value !== undefined && typeof value !== "string") throw wrong(`${path}.doc`, "a text", value);
  return value ?? "";
}

function channelName(value: unknown, path: string): string {
  if (typeof value !== "string" || value === "") throw wrong(path, "a text that is not empty", value);
  return value;
}
