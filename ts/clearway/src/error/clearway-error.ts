// SPDX-License-Identifier: MIT OR Apache-2.0
import type { ErrorCode } from "./codes.js";

const brand = Symbol.for("clearway.error");

/**
 * What Clearway itself throws. Errors of your tasks keep their own class name, message and properties.
 * Tell cases apart by {@link ClearwayError.code}, never by the message.
 */
export class ClearwayError extends Error {
  override readonly name = "ClearwayError";
  /** What went wrong, from a closed list. */
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }

  // The package's entries are bundled apart, each with this class; their errors are of one kind all the same.
  static override [Symbol.hasInstance](value: unknown): boolean {
    try {
      return (value as { [brand]?: true } | null | undefined)?.[brand] === true;
    } catch {
      // A revoked Proxy, say: whoever asks is dealing with what somebody threw.
      return false;
    }
  }
}

// Not in a static block: a class that names itself inside is renamed by bundlers, and its errors print as "_ClearwayError".
Object.defineProperty(ClearwayError.prototype, brand, { value: true });

/** The error with what caused it, where that is known. */
export function caused(code: ErrorCode, message: string, cause: unknown): ClearwayError {
  return new ClearwayError(code, message, cause === undefined ? cause : { cause });
}

/** `invalid-argument` for a value outside its range, in the form `name must be …: name=value`. Never looks into the value. */
export function invalid(name: string, must: string, value: unknown): ClearwayError {
  return new ClearwayError("invalid-argument", `${name} must be ${must}: ${name}=${shown(value)}`);
}

/** A value in a message. What looks into an object would run the code of who made it. */
export function shown(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value);
  return Object(value) === value ? `[${typeof value}]` : String(value);
}
