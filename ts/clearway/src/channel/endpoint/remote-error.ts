// SPDX-License-Identifier: MIT OR Apache-2.0
import { calledFrom } from "../../error/stack.js";

const brand = Symbol.for("clearway.remoteError");

/** Optional parts of a {@link RemoteError}. */
export interface RemoteErrorParts {
  /** Any value that the standard codec can encode. */
  readonly details?: unknown;
  readonly cause?: unknown;
  readonly channel?: string;
  /** The error's stack at the other end. */
  readonly stack?: string;
  readonly callerStack?: string;
}

/**
 * An error that the other end's handler threw. A handler throws a `RemoteError` to choose the code and the details. For any
 * other error, the code is the error's own `code`, or "error". On Clearway's wire, if the other end exposes errors, `cause` is
 * the error that was thrown there, with class name, stack, properties and causes. The stack of the error continues with the
 * stack of the code that awaits the call.
 */
export class RemoteError extends Error {
  override readonly name = "RemoteError";
  /** The code that the handler chose. It can be any text. */
  readonly code: string;
  readonly details: unknown;
  /** The channel's name. Empty for an error that was created at this end. */
  readonly channel: string;

  constructor(code: string, message: string, parts: RemoteErrorParts = {}) {
    super(message, parts.cause === undefined ? undefined : { cause: parts.cause });
    this.code = code;
    this.details = parts.details ?? null;
    this.channel = parts.channel ?? "";
    if (parts.stack) this.stack = parts.stack + calledFrom(parts.callerStack ?? "");
  }

  // A getter, and not a property that is defined after the class. Bundlers would keep such a property in an app that uses only
  // codecs.
  get [brand](): true {
    return true;
  }

  /** Recognizes the errors of every copy of this class by their brand, like `ClearwayError`. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return (value as { [brand]?: true } | null | undefined)?.[brand] === true;
  }
}
