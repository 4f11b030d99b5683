// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError } from "../error/clearway-error.js";

/** A value that does not fit its column, before the writer adds which row it was in. */
export class BadValue {
  constructor(
    readonly column: string,
    /** What the column takes, in words. */
    readonly expected: string,
    readonly value: unknown,
    /** What to do, where it is not what is always said. */
    readonly hint?: string,
  ) {}
}

/** What is told of a row that a table does not take; the error has these as properties too. */
export interface BadRow {
  column: string;
  row: number;
}

/** The typed error for a row that does not fit. `hint` says what to do. */
export function badRow(bad: BadValue, row: number, hint = hintFor(bad)): ClearwayError {
  const { column, expected, value } = bad;
  const error = new ClearwayError(
    "invalid-argument",
    `row ${row}: ${column} must be ${expected}: ${column}=${shown(value)}. ${hint}`,
  );
  return Object.assign(error, { column, row } satisfies BadRow);
}

/** Throws `invalid-argument` for an argument, in the form `name must be …: name=value`. Runs nothing of the value's own. */
export function invalid(name: string, must: string, value: unknown): ClearwayError {
  return new ClearwayError("invalid-argument", `${name} must be ${must}: ${name}=${shown(value)}`);
}

/** Refuses options that are no object, and one that there is not. Throws `invalid-argument`. */
export function checkOptions(options: unknown, known: readonly string[]): void {
  if (options === null || typeof options !== "object") throw invalid("options", "an object", options);
  for (const name of Object.keys(options)) {
    if (!known.includes(name)) throw invalid("an option", `one of ${known.join(", ")}`, name);
  }
}

/**
 * What structured clone comes to first in whatever reads a table's memory, and refuses with these words: it would drop
 * getters and take whole chunks along.
 */
export const cannotBeSent = Symbol("rows and columns cannot be sent: send the table, or what toObjects() makes");

/** The typed error for memory or a message that is not a table. */
export function malformed(what: string): ClearwayError {
  return new ClearwayError("protocol", `not a table: ${what}`);
}

/** The typed error for memory that this side does not hold any more. */
export function gone(): ClearwayError {
  return new ClearwayError(
    "released",
    "the table's memory is not here any more: the table, or one that shares its chunks, was moved to another thread or released",
  );
}

/**
 * Tells why a read found nothing: the memory is gone, or it says something that cannot be. Reads come here only when a
 * typed array had nothing at a place where there must be something, so the fast path pays one comparison.
 */
export function unreadable(buffer: ArrayBufferLike, what: string): ClearwayError {
  return buffer.byteLength === 0 ? gone() : malformed(what);
}

/** A value for a message: short, in one line. */
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
