// SPDX-License-Identifier: MIT OR Apache-2.0
import { underSeam } from "../../error/stack.js";

const brand = Symbol.for("clearway.remoteError");

/** Optional parts of an error. */
export interface RemoteErrorParts {
  /** Any value that the standard codec can encode. */
  readonly details?: unknown;
  readonly cause?: unknown;
  readonly channel?: string;
  /** The stack at the other end. */
  readonly stack?: string;
  readonly callerStack?: string;
}

/**
 * An error that the other end's handler threw. A handler throws one to choose code and details; for every other error the code is the
 * error's own `code`, or "error". Between two ends of Clearway's wire, `cause` is the error thrown there, with class name, stack,
 * properties and causes, if the other end exposes errors. Then the stack continues with the call's.
 */
export class RemoteError extends Error {
  override readonly name = "RemoteError";
  /** The handler's own code; any text. */
  readonly code: string;
  readonly details: unknown;
  /** The channel's name; empty for an error that has not crossed. */
  readonly channel: string;

  constructor(code: string, message: string, parts: RemoteErrorParts = {}) {
    super(message, parts.cause === undefined ? undefined : { cause: parts.cause });
    this.code = code;
    this.details = parts.details ?? null;
    this.channel = parts.channel ?? "";
    if (parts.stack) this.stack = parts.stack + underSeam(parts.callerStack ?? "");
  }

  // A getter, not a property defined after the class: bundlers would keep such a property in an app that uses only codecs.
  get [brand](): true {
    return true;
  }

  /** Recognizes the errors of every copy of this class by their brand, as `ClearwayError` does. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return (value as { [brand]?: true } | null | undefined)?.[brand] === true;
  }
}
