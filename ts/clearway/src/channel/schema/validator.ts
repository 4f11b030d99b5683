// SPDX-License-Identifier: MIT OR Apache-2.0

import type { ErrorCode } from "../../error/clearway-error.js";
import { ClearwayError } from "../../error/clearway-error.js";
import { MovedValue, move } from "../../transfer/move.js";
import { float64 } from "../codec/tags.js";
import type { FieldShape, TypeName, TypeShape } from "./schema.js";

/** Describes a value that does not match its type. Each level of the validator adds its key in front of the path. */
export class ValidationIssue {
  readonly path: (string | number)[] = [];

  constructor(
    /** The expected type, in English. */
    readonly expected: string,
    readonly value: unknown,
  ) {}

  /** Adds, in front of the path, the key at which an outer value contains this one. Returns this issue. */
  inside(key: string | number): this {
    this.path.unshift(key);
    return this;
  }

  /** Returns the value's path from `root`, for example `args.places[3].city`. */
  at(root: string): string {
    return this.path.reduce<string>((path, key) => path + step(key), root);
  }
}

const plain = /^[A-Za-z_$][\w$]*$/;
const keyLengthMax = 40;

function step(key: string | number): string {
  if (typeof key === "number") return `[${key}]`;
  if (plain.test(key) && key.length <= keyLengthMax) return `.${key}`;
  return `[${JSON.stringify(key.length > keyLengthMax ? `${key.slice(0, keyLengthMax)}…` : key)}]`;
}

const shownMax = 40;

/** Returns a value as a short text in one line, for an error message. */
export function shown(value: unknown): string {
  if (typeof value === "string")
    return JSON.stringify(value.length > shownMax ? `${value.slice(0, shownMax)}…` : value);
  if (typeof value === "bigint") return `${String(value).slice(0, shownMax)}n`;
  if (value === null || typeof value !== "object") return String(value).slice(0, shownMax);
  return Object.prototype.toString.call(value).slice(8, -1);
}

/**
 * Validates a value and converts it: for the codec (`write`) or for the program (`read`). Creates new lists, maps and structs.
 * The fields of a struct are in the schema's order. Returns texts, bytes and lists of numbers unchanged. Throws a {@link
 * ValidationIssue}.
 */
type Validator = (value: unknown) => unknown;

export type Direction = "write" | "read";

/** Creates the validators of a schema's types. A type that occurs several times gets one validator. */
export class Validators {
  readonly #made = new Map<TypeShape, Validator>();

  constructor(readonly direction: Direction) {}

  of(shape: TypeShape): Validator {
    let validator = this.#made.get(shape);
    if (validator === undefined) {
      validator = this.#make(shape);
      this.#made.set(shape, validator);
    }
    return validator;
  }

  #make(shape: TypeShape): Validator {
    switch (shape.kind) {
      case "list":
        return listOf(this.of(shape.of));
      case "map":
        return mapOf(this.of(shape.of));
      case "nullable": {
        const some = this.of(shape.of);
        return (value) => (value === null || value === undefined ? null : some(value));
      }
      case "struct":
        return structOf(
          shape.fields,
          shape.fields.map(({ type }) => this.of(type)),
          this.direction === "write",
        );
      case "one-of": {
        const texts = new Set<unknown>(shape.texts);
        const expected = `one of ${shape.texts.map((text) => JSON.stringify(text)).join(", ")}`;
        return (value) => (texts.has(value) ? value : refuse(expected, value));
      }
      default:
        return this.direction === "write" && shape.kind === "f64" ? writeFloat : named[shape.kind];
    }
  }
}

function refuse(expected: string, value: unknown): never {
  throw new ValidationIssue(expected, value);
}

const i32: Validator = (value) =>
  typeof value === "number" && (value | 0) === value ? value + 0 : refuse("a whole number of 32 bits", value);

const i64Max = (1n << 63n) - 1n;

// Both directions return a `bigint`. A handler in the same process therefore receives the same values as a handler at the other
// end of a wire.
const i64: Validator = (value) => {
  if (typeof value === "number" && Number.isSafeInteger(value)) return BigInt(value);
  if (typeof value === "bigint" && value <= i64Max && value >= -i64Max - 1n) return value;
  return refuse("a whole number of 64 bits", value);
};

const number: Validator = (value) => (typeof value === "number" ? value : refuse("a number", value));

const writeFloat: Validator = (value) => (typeof value === "number" ? float64(value) : refuse("a number", value));

const arrayOf =
  (type: abstract new (...args: never[]) => unknown, name: string): Validator =>
  (value) =>
    value instanceof type ? value : refuse(`a ${name}`, value);

const named: Readonly<Record<TypeName, Validator>> = {
  any: (value) => (value === undefined ? null : value),
  null: (value) => (value === null || value === undefined ? null : refuse("null", value)),
  bool: (value) => (typeof value === "boolean" ? value : refuse("true or false", value)),
  i32,
  int: (value) => (Number.isSafeInteger(value) ? (value as number) + 0 : refuse("a whole number up to 2^53", value)),
  i64,
  f64: number,
  text: (value) => (typeof value === "string" ? value : refuse("a text", value)),
  bytes: arrayOf(Uint8Array, "Uint8Array"),
  i32s: arrayOf(Int32Array, "Int32Array"),
  i64s: arrayOf(BigInt64Array, "BigInt64Array"),
  f32s: arrayOf(Float32Array, "Float32Array"),
  f64s: arrayOf(Float64Array, "Float64Array"),
};

function listOf(item: Validator): Validator {
  return (value) => {
    if (!Array.isArray(value)) return refuse("a list", value);
    const out = new Array<unknown>(value.length);
    for (let at = 0; at < value.length; at++) out[at] = validateAt(item, value[at], at);
    return out;
  };
}

function mapOf(item: Validator): Validator {
  return (value) => {
    // The object has no prototype, so a key named `__proto__` is an ordinary key.
    const out = Object.create(null) as Record<string, unknown>;
    for (const [key, each] of Object.entries(plainObject(value, "a map with texts as keys")))
      out[key] = validateAt(item, each, key);
    return out;
  };
}

// Returns the validator of a struct. A value may have fields that the schema does not have. If `strict` (for writing), such a
// field is an error, because it would be lost silently. Reading ignores such a field, because it may come from a newer schema.
function structOf(fields: readonly FieldShape[], validators: readonly Validator[], strict: boolean): Validator {
  const names = fields.map(({ name }) => name);
  const known = new Set(names);
  const expected = `an object with ${names.join(", ") || "no fields"}`;
  return (value) => {
    const from = plainObject(value, expected);
    const out: Record<string, unknown> = {};
    for (let at = 0; at < names.length; at++) {
      const name = names[at] as string;
      out[name] = validateAt(validators[at] as Validator, Object.hasOwn(from, name) ? from[name] : undefined, name);
    }
    if (strict) {
      for (const name of Object.keys(from))
        if (!known.has(name) && from[name] !== undefined)
          throw new ValidationIssue("left out, as the schema has no such field", from[name]).inside(name);
    }
    return out;
  };
}

// Refuses what has its content elsewhere than in its properties, such as a Set: the content would be lost silently.
function plainObject(value: unknown, expected: string): Record<string, unknown> {
  if (typeof value === "object" && Object.prototype.toString.call(value) === "[object Object]")
    return value as Record<string, unknown>;
  return refuse(expected, value);
}

// Validates an element of a list, a map or a struct. Adds its key to the path of an issue.
function validateAt(validator: Validator, value: unknown, key: string | number): unknown {
  try {
    return validator(value);
  } catch (thrown) {
    throw thrown instanceof ValidationIssue ? thrown.inside(key) : thrown;
  }
}

/** Properties of the error for a value that does not match its schema. */
export interface ValidationIssueParts {
  /** The value's path, such as `args.places[3].city`. */
  readonly path: string;
  /** The type that the schema expects at this path. */
  readonly expected: string;
}

/** Validates a value on its way from the program to the codec, or back. Throws an error with the value's path. */
export type Validated = (value: unknown) => unknown;

/**
 * Returns a function that validates a value with `validator`. `code` is the code of its error: `invalid-argument` for the program's
 * own values, `protocol` for the other end's values. A value given with `move()` stays marked as moved.
 */
export function validated(validator: Validator, where: string, root: string, code: ErrorCode): Validated {
  return (value) => {
    try {
      return value instanceof MovedValue ? move(validator(value.value), value.transfer) : validator(value);
    } catch (thrown) {
      if (!(thrown instanceof ValidationIssue)) throw thrown;
      const path = thrown.at(root);
      const { expected } = thrown;
      const error = new ClearwayError(code, `${where}: ${path} must be ${expected}: ${path}=${shown(thrown.value)}`);
      throw Object.assign(error, { path, expected } satisfies ValidationIssueParts);
    }
  };
}
