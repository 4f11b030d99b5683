// SPDX-License-Identifier: MIT OR Apache-2.0

import { ClearwayError } from "../../error/clearway-error.js";
import type { ErrorCode } from "../../error/codes.js";
import { abortOf } from "../../error/read-signal.js";
import { RemoteError } from "./remote-error.js";

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
