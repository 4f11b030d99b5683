// SPDX-License-Identifier: MIT OR Apache-2.0
import { underSeam } from "../../error/stack.js";

const brand = Symbol.for("clearway.remoteError");

/** What may stand beside an error's code and message. */
export interface RemoteErrorParts {
  /** Any value of the standard codec. */
  readonly details?: unknown;
  readonly cause?: unknown;
  readonly channel?: string;
  /** The stack at the other end, and that of the call. */
  readonly stack?: string;
  readonly callerStack?: string;
}

/**
 * What the other end's handler threw. A handler throws one itself to choose code and details; of any other error it throws,
 * the code is its `code`, or "error". Between two ends of Clearway's wire `cause` is what was thrown there, with its class
 * name, stack, properties and causes, and the stack goes on with that of the call.
 */
export class RemoteError extends Error {
  override readonly name = "RemoteError";
  /** The handler's own; any text. */
  readonly code: string;
  readonly details: unknown;
  /** The channel's name; empty where it has not crossed. */
  readonly channel: string;

  constructor(code: string, message: string, parts: RemoteErrorParts = {}) {
    super(message, parts.cause === undefined ? undefined : { cause: parts.cause });
    this.code = code;
    this.details = parts.details ?? null;
    this.channel = parts.channel ?? "";
    if (parts.stack) this.stack = parts.stack + underSeam(parts.callerStack ?? "");
  }

  // A getter, and not a property that is defined below: that would stay in an app that has codecs only.
  get [brand](): true {
    return true;
  }

  // As with ClearwayError: entries that are bundled apart have each their own class.
  static override [Symbol.hasInstance](value: unknown): boolean {
    return (value as { [brand]?: true } | null | undefined)?.[brand] === true;
  }
}
