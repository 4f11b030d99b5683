// SPDX-License-Identifier: MIT OR Apache-2.0
import type { ErrorCode } from "./codes.js";

const brand = Symbol.for("clearway.error");

/**
 * An error that Clearway itself throws. An error that your task throws keeps its own class name, message and properties.
 *
 * Distinguish errors by {@link ClearwayError.code}, never by the message.
 */
export class ClearwayError extends Error {
  override readonly name = "ClearwayError";
  /** The kind of error. The list of codes is closed. */
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }

  /**
   * Makes `instanceof` recognize the errors of every copy of this class, by their brand. Each entry point of the package is bundled with
   * its own copy of the class.
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

// Sets the brand outside the class body. Bundlers rename a class that uses its own name in its body, and its errors would then print as
// "_ClearwayError".
Object.defineProperty(ClearwayError.prototype, brand, { value: true });

/** Returns an error with the given cause. If the cause is undefined, the error has no `cause` property. */
export function caused(code: ErrorCode, message: string, cause: unknown): ClearwayError {
  return new ClearwayError(code, message, cause === undefined ? cause : { cause });
}

/** Returns an `invalid-argument` error with the message `name must be …: name=value`. Does not read the properties of the value. */
export function invalid(name: string, must: string, value: unknown): ClearwayError {
  return new ClearwayError("invalid-argument", `${name} must be ${must}: ${name}=${shown(value)}`);
}

/** Formats a value for an error message. Does not read the properties of an object, because a getter would run the app's code. */
function shown(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value);
  return Object(value) === value ? `[${typeof value}]` : String(value);
}

/** Returns the message of a thrown value as text. Never throws, even if a getter, `toString` or a revoked Proxy throws. */
export function messageOf(thrown: unknown): string {
  try {
    return String(thrown instanceof Error ? thrown.message : thrown);
  } catch {
    return "unreadable";
  }
}

/** Whether stacks of this engine begin with a line that has the error's message, as V8's do. */
let headed: boolean | undefined;

/**
 * Returns the frames of the functions that called `below`, directly or indirectly, without the error's first line. Empty if the engine has
 * no `captureStackTrace`, or if `below` is not on the stack.
 */
export function stackAbove(below: (...args: never[]) => unknown): string {
  const trace: { stack?: string } = {};
  (Error as { captureStackTrace?(target: object, below: unknown): void }).captureStackTrace?.(trace, below);
  const stack = trace.stack ?? "";
  headed ??= new Error("header").stack?.split("\n", 1)[0]?.includes("header") ?? false;
  if (!headed) return stack.trimEnd();
  return stack.includes("\n") ? stack.slice(stack.indexOf("\n") + 1) : "";
}

/** Returns the caller's stack in the form that is appended to a worker's stack. Returns an empty string for an empty stack. */
export function calledFrom(callerStack: string): string {
  return callerStack && `\n    --- called from ---\n${callerStack}`;
}

/** Defines a property that can be changed later. Even a property named `__proto__` becomes an ordinary property. */
export function define(target: object, key: PropertyKey, value: unknown, enumerable = false): void {
  try {
    Object.defineProperty(target, key, { value, enumerable, configurable: true, writable: true });
  } catch {
    // Some objects reject a property. A DOMException, for example, rejects `code`. The DOMException's own `code` has the same value.
  }
}
