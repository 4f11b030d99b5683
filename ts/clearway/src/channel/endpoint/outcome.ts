// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError } from "../../error/clearway-error.js";
import type { ErrorCode } from "../../error/codes.js";
import { RemoteError } from "./remote-error.js";

/** What may become of a call, as a value. */
export type Outcome<T> =
  | { readonly kind: "result"; readonly value: T }
  /** The other end's handler threw. */
  | { readonly kind: "remote-error"; readonly error: RemoteError }
  /** Nobody ran it, or it was not waited for. */
  | { readonly kind: OutcomeKind; readonly error: unknown };

/** The ends of a call that are neither a result nor the handler's own error. */
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
 * Waits for a call and gives what became of it as a value, for whoever would otherwise catch and look at codes. Give the call's
 * signal, too: a call rejects with that signal's own reason. What is misuse, such as a value that the codec has no form for,
 * still rejects.
 */
export async function outcome<T>(call: Promise<T>, signal?: AbortSignal): Promise<Outcome<T>> {
  try {
    return { kind: "result", value: await call };
  } catch (error) {
    if (error instanceof RemoteError) return { kind: "remote-error", error };
    if (signal?.aborted && error === signal.reason) return { kind: "cancelled", error };
    const kind = error instanceof ClearwayError ? kinds[error.code] : undefined;
    if (kind === undefined) throw error;
    return { kind, error };
  }
}
