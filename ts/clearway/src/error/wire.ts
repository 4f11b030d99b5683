// SPDX-License-Identifier: MIT OR Apache-2.0
import { structuredClone } from "../globals.js";
import { ClearwayError, calledFrom, define } from "./clearway-error.js";
import { isDeep } from "./depth.js";

// An error is sent to another thread as a plain object, because structured clone is not enough. Structured clone loses the class name of a
// subclass, the error's own properties, and the errors of an AggregateError. Structured clone also throws on the first property that cannot
// be cloned.

/** A thrown value in a form that can be posted: an encoded error, or a clone of any other value. */
export type WireError = WireValue | WireObject;

interface WireValue {
  value: unknown;
}

interface WireObject {
  /** Name of the class that rebuilds the error: ClearwayError, or the nearest base class that every host has. */
  base: string;
  name: string;
  message: string;
  stack: string;
  props: [string, unknown][];
  cause?: WireError;
  errors?: WireError[];
}

// Limits of an encoded error: levels of causes, errors in total, and properties of each error. The limits end a cyclic chain of causes, and
// prevent a very long chain from flooding the port.
const maxDepth = 16;
const maxErrors = 256;
const maxProps = 64;
const skipped = ["name", "message", "stack", "cause", "errors"];

type Isolate = (value: unknown) => unknown;
type AnyError = new (message: string) => Error;

const bases = new Map<unknown, AnyError>(
  [Error, TypeError, RangeError, SyntaxError, ReferenceError, EvalError, URIError].map((type) => [type.name, type]),
);

/**
 * Encodes any thrown value for posting. Copies all parts of the value. Never throws. A part that cannot be read does not affect the others.
 *
 * `isolate` returns a copy of a value that has nothing of the memory next to its views. `left` counts the errors that the whole tree may
 * still contain. With a limit for each level only, an AggregateError that contains itself
 * twice would double the number of errors at every level.
 */
export function encodeError(
  thrown: unknown,
  isolate: Isolate = (value) => value,
  depth = 0,
  left = { errors: maxErrors },
): WireError {
  try {
    if (!isError(thrown)) return marked({ value: cloneable(thrown, isolate, (value) => detailsOf(value, isolate)) });
    left.errors--;
    const keys = Object.keys(thrown).filter((key) => !skipped.includes(key));
    const wire: WireObject = marked({
      base: baseOf(thrown),
      name: nameOf(thrown),
      message: text(thrown, "message"),
      stack: hasProcesses ? withoutOwnFrames(text(thrown, "stack")) : text(thrown, "stack"),
      props: keys.slice(0, maxProps).map((key) => [key, cloneable(read(thrown, key), isolate)]),
    });
    if (depth === maxDepth) return wire;
    const inner = (reasons: unknown[]): WireError[] =>
      reasons
        .slice(0, maxErrors)
        .flatMap((each) => (left.errors > 0 ? encodeError(each, isolate, depth + 1, left) : []));
    const cause = read(thrown, "cause");
    if (cause !== undefined) wire.cause = inner([cause])[0]!;
    const errors = read(thrown, "errors");
    if (wire.base === "AggregateError" && Array.isArray(errors)) wire.errors = inner(errors);
    return wire;
  } catch {
    // Reading the value threw. The value may be a proxy, or have a getter that throws.
    return { value: describe(thrown) };
  }
}

/**
 * The key by which a value is known as an encoded error where it leaves for another process. The key does not cross. A `structuredClone`
 * decides what an error keeps, and a process cannot receive all of that.
 */
export const wireKey: unique symbol = Symbol.for("clearway.wire");

function marked<Wire extends object>(wire: Wire): Wire {
  if (hasProcesses) define(wire, wireKey, true);
  return wire;
}

/** Replaces the parts of an encoded error that `copies` throws for. Returns a copy. */
export function withoutUncopied(wire: WireError, copies: (value: unknown) => void): WireError {
  const kept = (value: unknown): unknown => {
    try {
      copies(value);
      return value;
    } catch {
      return describe(value);
    }
  };
  if (!("base" in wire)) return { value: kept(wire.value) };
  const { props, cause, errors } = wire;
  return {
    ...wire,
    props: props.map(([key, value]) => [key, kept(value)]),
    ...(cause && { cause: withoutUncopied(cause, copies) }),
    ...(errors && { errors: errors.map((each) => withoutUncopied(each, copies)) }),
  };
}

/**
 * Rebuilds the thrown value from its encoded form.
 *
 * `callerStack` is the caller's stack without its first line. `decodeError` appends it to the worker's stack, so that the error shows both
 * threads.
 */
export function decodeError(wire: WireError, callerStack = ""): unknown {
  if (!("base" in wire)) return wire.value;
  const error = create(wire);
  for (const [key, value] of wire.props) define(error, key, value, true);
  if (error.name !== wire.name) define(error, "name", wire.name);
  if (wire.cause !== undefined) define(error, "cause", decodeError(wire.cause));
  define(error, "stack", wire.stack + calledFrom(callerStack));
  return error;
}

function create({ base, name, message, errors = [] }: WireObject): Error {
  switch (base) {
    case "AggregateError":
      return new AggregateError(
        errors.map((each) => decodeError(each)),
        message,
      );
    case "DOMException":
      return new DOMException(message, name);
    case "ClearwayError":
      // `decodeError` replaces this code later: the real code is one of the encoded properties.
      return new ClearwayError("protocol", message);
    default:
      return new (bases.get(base) ?? Error)(message);
  }
}

/** Returns whether the value is an error of any realm. An error of a `vm` context is not an instance of this realm's `Error`. */
function isError(thrown: unknown): thrown is Error {
  return thrown instanceof Error || Object.prototype.toString.call(thrown) === "[object Error]";
}

function baseOf(error: Error): string {
  if (error instanceof AggregateError) return "AggregateError";
  if (error instanceof DOMException) return "DOMException";
  if (error instanceof ClearwayError) return "ClearwayError";
  const foreign = !(error instanceof Error);
  for (let proto = Object.getPrototypeOf(error); proto; proto = Object.getPrototypeOf(proto)) {
    const type = read(proto, "constructor") as AnyError | null | undefined;
    if (
      type &&
      (bases.get(type.name) === type || (foreign && (bases.has(type.name) || type.name === "AggregateError")))
    )
      return type.name;
  }
  return "Error";
}

// Returns the class name of an error that inherits a built-in name such as "Error". A subclass that does not set `name` has such a name,
// and its class name is more specific.
function nameOf(error: Error): string {
  const name = text(error, "name");
  const className = (read(error, "constructor") as { name?: unknown } | null | undefined)?.name;
  return bases.has(name) && className && typeof className === "string" ? className : name;
}

function text(error: Error, key: string): string {
  const value = read(error, key) ?? "";
  return typeof value === "string" ? value : describe(value);
}

/** A frame in a file of this package. Bundles have other names and keep all frames; pages are bundles, so only Node has this code. */
const ownFrame = /[\\/]clearway[\\/]dist[\\/]/;

/** Removes the outermost frames that are the library's, or Node's above them: they are always the same, and tell the app nothing. */
function withoutOwnFrames(stack: string): string {
  let end = stack.length;
  for (let at = stack.length; at > 0; ) {
    const start = stack.lastIndexOf("\n", at - 1);
    const line = stack.slice(start, at);
    if (start < 0) return stack; // an error of the library itself
    if (ownFrame.test(line)) end = start;
    else if (!line.includes("node:internal")) break;
    at = start;
  }
  return stack.slice(0, end);
}

function read(target: object, key: string): unknown {
  try {
    return (target as Record<string, unknown>)[key];
  } catch (thrown) {
    return `[getter threw: ${(thrown as Error | undefined)?.message}]`;
  }
}

function cloneable(value: unknown, isolate: Isolate, instead: (value: unknown) => unknown = describe): unknown {
  try {
    const copy = isolate(value);
    return isDeep(copy) ? "[not cloneable: nested too deep]" : structuredClone(copy);
  } catch {
    return instead(value);
  }
}

// Returns the properties of a thrown object that can be cloned. These properties usually describe the problem, even if the object as a
// whole cannot be sent to another thread.
function detailsOf(value: unknown, isolate: Isolate): unknown {
  if (value === null || typeof value !== "object") return describe(value);
  const keys = new Set(["name", "message", "code", ...Object.keys(value)]);
  const details = [...keys].slice(0, maxProps).map((key) => [key, read(value, key)] as const);
  const known = details.filter(([, detail]) => detail !== undefined);
  if (known.length === 0) return describe(value);
  return Object.fromEntries(known.map(([key, detail]) => [key, cloneable(detail, isolate)]));
}

function describe(value: unknown): string {
  try {
    const tag = Object.prototype.toString.call(value).slice(8, -1);
    const what =
      typeof value === "function" ? `function ${value.name}` : typeof value === "symbol" ? String(value) : tag;
    return `[not cloneable: ${what}]`;
  } catch {
    return "[not cloneable]";
  }
}
