// SPDX-License-Identifier: MIT OR Apache-2.0
import type { ErrorCode } from "./codes.js";

const brand = Symbol.for("clearway.error");

/**
 * The error that Clearway itself throws. Errors of your tasks keep their own class name, message and properties.
 *
 * Distinguish cases by {@link ClearwayError.code}, never by the message.
 */
export class ClearwayError extends Error {
  override readonly name = "ClearwayError";
  /** The kind of error, from a closed list. */
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }

  /**
   * Recognizes the errors of every copy of this class by their brand. Each entry of the package is bundled with its own copy of the
   * class.
   */
  static override [Symbol.hasInstance](value: unknown): boolean {
    try {
      return (value as { [brand]?: true } | null | undefined)?.[brand] === true;
    } catch {
      // A thrown value can be anything, for example a revoked Proxy. `instanceof` must not throw for it.
      return false;
    }
  }
}

// Not in a static block: bundlers rename a class that uses its own name in its body. Its errors would then print as "_ClearwayError".
Object.defineProperty(ClearwayError.prototype, brand, { value: true });

/** Returns an error with a cause, unless the cause is undefined. */
export function caused(code: ErrorCode, message: string, cause: unknown): ClearwayError {
  return new ClearwayError(code, message, cause === undefined ? cause : { cause });
}

/** Returns the `invalid-argument` error for a bad value, as `name must be …: name=value`. Does not read the value's properties. */
export function invalid(name: string, must: string, value: unknown): ClearwayError {
  return new ClearwayError("invalid-argument", `${name} must be ${must}: ${name}=${shown(value)}`);
}

/** Formats a value for a message. Does not read an object's properties, because that could run the app's code. */
export function shown(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value);
  return Object(value) === value ? `[${typeof value}]` : String(value);
}
