// SPDX-License-Identifier: MIT OR Apache-2.0

import { abortOf } from "../../error/checked.js";
import type { ErrorCode } from "../../error/clearway-error.js";
import { ClearwayError, calledFrom, isBranded } from "../../error/clearway-error.js";
import { Status } from "../wire/frame.js";

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
    return isBranded(value, brand);
  }
}

const meanings: Partial<Record<number, readonly [code: ErrorCode, what: string]>> = {
  [Status.notImplemented]: ["not-implemented", "the other end has no such method"],
  [Status.noHandler]: ["no-handler", "the other end has no handler, or is closing"],
  [Status.dropped]: ["dropped", "dropped by the other end, whose buffer of early messages was full"],
  [Status.cancelled]: ["cancelled", "cancelled by the other end"],
  [Status.timeout]: ["timeout", "the handler ran longer than timeoutMs"],
  [Status.busy]: ["queue-full", "the other end runs as many calls as its callsMax allows"],
};

/** Returns the error for a status that comes without an error. */
export function statusError(status: number, channel: string): ClearwayError {
  const [code, what] = meanings[status] ?? (["protocol", `status ${status}`] as const);
  return new ClearwayError(code, `${channel}: ${what}`);
}

/** Returns the error for a plain reply without bytes. */
export function noAnswer(channel: string): ClearwayError {
  return new ClearwayError("not-implemented", `${channel}: not implemented by the other end, or no handler there`);
}

/** The end of a call, as a value. */
export type Outcome<T> =
  | { readonly kind: "result"; readonly value: T }
  /** The other end's handler threw. */
  | { readonly kind: "remote-error"; readonly error: RemoteError }
  /** The call ended without a result and without an error of the handler. */
  | { readonly kind: OutcomeKind; readonly error: unknown };

/** Ends of a call that are neither a result nor the handler's own error. */
export type OutcomeKind =
  | "not-implemented"
  | "no-handler"
  | "dropped"
  | "queue-full"
  | "cancelled"
  | "deadline"
  | "timeout"
  | "closed";

const kinds: Partial<Record<ErrorCode, OutcomeKind>> = {
  "not-implemented": "not-implemented",
  "no-handler": "no-handler",
  dropped: "dropped",
  "queue-full": "queue-full",
  cancelled: "cancelled",
  deadline: "deadline",
  timeout: "timeout",
  "transport-closed": "closed",
};

/**
 * Waits for a call and returns its end as a value. Callers need not catch errors and compare codes. Pass the call's signal too:
 * a cancelled call rejects with the signal's reason, and `outcome` recognizes that reason only if it has the signal. Misuse
 * still rejects, such as a value that the codec cannot encode.
 */
export async function outcome<T>(call: Promise<T>, signal?: AbortSignal): Promise<Outcome<T>> {
  try {
    return { kind: "result", value: await call };
  } catch (error) {
    if (error instanceof RemoteError) return { kind: "remote-error", error };
    const aborted = abortOf(signal);
    if (aborted && error === aborted.reason) return { kind: "cancelled", error };
    const kind = error instanceof ClearwayError ? kinds[error.code] : undefined;
    if (kind === undefined) throw error;
    return { kind, error };
  }
}
