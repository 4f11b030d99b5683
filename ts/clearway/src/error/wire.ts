// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError } from "./clearway-error.js";
import { isDeep } from "./depth.js";
import { define, underSeam } from "./stack.js";

// An error crosses as a plain object. Structured clone loses a subclass's class name, the error's own properties, and the errors of an
// AggregateError. It throws on the first property that cannot be cloned.

/** A thrown value in a form that can be posted: an encoded error, or any other value, unchanged if it can be cloned. */
export type WireError = WireValue | WireObject;

interface WireValue {
  value: unknown;
}

interface WireObject {
  /** The class for rebuilding the error: the nearest class that every host has, or ClearwayError. */
  base: string;
  name: string;
  message: string;
  stack: string;
  props: [string, unknown][];
  cause?: WireError;
  errors?: WireError[];
}

// Limits for a cause chain. A cyclic chain then ends, and a chain that was built in a loop does not flood the port.
const maxDepth = 16;
const maxErrors = 256;
const maxProps = 64;
const skipped = ["name", "message", "stack", "cause", "errors"];

type AnyError = new (message: string) => Error;

const bases = new Map<unknown, AnyError>(
  [Error, TypeError, RangeError, SyntaxError, ReferenceError, EvalError, URIError].map((type) => [type.name, type]),
);

/** Encodes any thrown value for posting. Never throws. Copies all values. */
export function encodeError(thrown: unknown): WireError {
  try {
    return encode(thrown, 0, { errors: maxErrors });
  } catch {
    // A proxy threw, or an error's properties did.
    return { value: describe(thrown) };
  }
}

// The whole tree shares `left`. Otherwise, an AggregateError that contains itself twice would double at every depth.
function encode(thrown: unknown, depth: number, left: { errors: number }): WireError {
  if (!isError(thrown)) return { value: cloneable(thrown, detailsOf) };
  left.errors--;
  const keys = Object.keys(thrown).filter((key) => !skipped.includes(key));
  const wire: WireObject = {
    base: baseOf(thrown),
    name: nameOf(thrown),
    message: text(thrown, "message"),
    stack: text(thrown, "stack"),
    props: keys.slice(0, maxProps).map((key) => [key, cloneable(read(thrown, key))]),
  };
  if (depth === maxDepth) return wire;
  const inner = (reasons: unknown[]): WireError[] =>
    reasons.slice(0, maxErrors).flatMap((each) => (left.errors > 0 ? encode(each, depth + 1, left) : []));
  const cause = read(thrown, "cause");
  if (cause !== undefined) wire.cause = inner([cause])[0]!;
  const errors = read(thrown, "errors");
  if (wire.base === "AggregateError" && Array.isArray(errors)) wire.errors = inner(errors);
  return wire;
}

/**
 * Rebuilds the thrown value.
 *
 * `callerStack` is the caller's stack without its first line. It is appended to the worker's stack, so the result shows both threads.
 */
export function decodeError(wire: WireError, callerStack = ""): unknown {
  if (!("base" in wire)) return wire.value;
  const error = create(wire);
  for (const [key, value] of wire.props) define(error, key, value, true);
  if (error.name !== wire.name) define(error, "name", wire.name);
  if (wire.cause !== undefined) define(error, "cause", decodeError(wire.cause));
  define(error, "stack", wire.stack + underSeam(callerStack));
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
      // The error's code is among its properties.
      return new ClearwayError("protocol", message);
    default:
      return new (bases.get(base) ?? Error)(message);
  }
}

/** Returns whether the value is an error of any realm. An error of a `vm` context is not an instance of this realm's class. */
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

// A subclass that does not set `name` inherits "Error". Its class name is more specific.
function nameOf(error: Error): string {
  const name = text(error, "name");
  const className = (read(error, "constructor") as { name?: unknown } | null | undefined)?.name;
  return bases.has(name) && className && typeof className === "string" ? className : name;
}

function text(error: Error, key: string): string {
  const value = read(error, key) ?? "";
  return typeof value === "string" ? value : describe(value);
}

function read(target: object, key: string): unknown {
  try {
    return (target as Record<string, unknown>)[key];
  } catch (thrown) {
    return `[getter threw: ${(thrown as Error | undefined)?.message}]`;
  }
}

function cloneable(value: unknown, instead: (value: unknown) => unknown = describe): unknown {
  try {
    return isDeep(value) ? "[not cloneable: nested too deep]" : structuredClone(value);
  } catch {
    return instead(value);
  }
}

// A thrown object usually describes the problem, even if a part of it cannot cross. Keeps the parts that can cross.
function detailsOf(value: unknown): unknown {
  if (value === null || typeof value !== "object") return describe(value);
  const keys = new Set(["name", "message", "code", ...Object.keys(value)]);
  const details = [...keys].slice(0, maxProps).map((key) => [key, read(value, key)] as const);
  const known = details.filter(([, detail]) => detail !== undefined);
  if (known.length === 0) return describe(value);
  return Object.fromEntries(known.map(([key, detail]) => [key, cloneable(detail)]));
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
