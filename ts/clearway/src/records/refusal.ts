// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError } from "../error/clearway-error.js";

/** A value that does not fit its column. The writer turns such a value into an error with the row's number. */
export class BadValue {
  constructor(
    readonly column: string,
    /** A description of the values that the column takes. */
    readonly expected: string,
    readonly value: unknown,
    /** Advice for the caller. If absent, the error has the usual advice. */
    readonly hint?: string,
  ) {}
}

/** The location of a rejected row. The writer's error has these properties, too. */
interface BadRow {
  column: string;
  row: number;
}

/** Returns the refusal of a typed array whose memory is gone. */
export function detached(column: string, value: unknown): BadValue {
  return new BadValue(column, "an array whose memory was not moved", value, "Move a copy.");
}

/** Returns the typed error for a row that does not fit. `hint` is advice for the caller. */
export function badRow(bad: BadValue, row: number, hint = hintFor(bad)): ClearwayError {
  const { column, expected, value } = bad;
  const error = new ClearwayError(
    "invalid-argument",
    `row ${row}: ${column} must be ${expected}: ${column}=${shown(value)}. ${hint}`,
  );
  return Object.assign(error, { column, row } satisfies BadRow);
}

/** Returns the `invalid-argument` error for an argument, as `name must be …: name=value`. Runs no code of the value. */
export function invalid(name: string, must: string, value: unknown): ClearwayError {
  return new ClearwayError("invalid-argument", `${name} must be ${must}: ${name}=${shown(value)}`);
}

/**
 * The name of a property of all objects that read a table's memory. Structured clone reads this property first, and rejects its value, a
 * symbol. The error names the property. Without it, structured clone would drop the getters and copy whole chunks.
 */
export const cannotBeSent = "rows and columns cannot be sent: send the table, or what toObjects() makes";
/** The value of that property. V8's own error shows its text. */
export const refused = Symbol(cannotBeSent);

/** Returns the typed error for memory or a message that is not a table. */
export function malformed(what: string): ClearwayError {
  return new ClearwayError("protocol", `not a table: ${what}`);
}

/** Returns the typed error for memory that this side no longer holds. */
export function released(): ClearwayError {
  return new ClearwayError(
    "released",
    "the table's memory is not here any more: the table, or one that shares its chunks, was moved to another thread or released",
  );
}

/**
 * Returns the error for a read that found no value. The memory is then released or malformed.
 *
 * Call this only if a typed array has no value at a required index. The fast path then costs only one comparison.
 */
export function unreadable(buffer: ArrayBufferLike, what: string): ClearwayError {
  return buffer.byteLength === 0 ? released() : malformed(what);
}

/** Formats a value for a message, short and in one line. */
export function shown(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value);
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value === "function") return "Function";
  if (value === null || typeof value !== "object") return String(value);
  try {
    return Object.prototype.toString.call(value).slice(8, -1);
  } catch {
    return "Object"; // its `Symbol.toStringTag` throws, or it is a revoked proxy
  }
}

function hintFor({ value, hint }: BadValue): string {
  if (hint !== undefined) return hint;
  if (value === null || value === undefined) return "Give every row a value, or declare the column nullable(…).";
  return "Convert the value before push(), or declare the column with another type.";
}
