// SPDX-License-Identifier: MIT OR Apache-2.0

import { invalid } from "./clearway-error.js";

// A caller's signal may be any object. Its getters and methods may throw, call back into the library, or return wrong values.

/** Returns the reason of an aborted signal. Never throws. If reading the reason throws, returns the thrown value. */
export function reasonOf(signal: AbortSignal): unknown {
  try {
    return signal.reason;
  } catch (thrown) {
    return thrown;
  }
}

/** Returns the reason if the signal has aborted, otherwise undefined. A signal whose properties throw counts as aborted. Never throws. */
export function abortOf(signal: AbortSignal | undefined): { reason: unknown } | undefined {
  try {
    return signal?.aborted ? { reason: reasonOf(signal) } : undefined;
  } catch (reason) {
    return { reason };
  }
}

/** Throws `invalid-argument` unless the value is undefined or an AbortSignal. Accepts the AbortSignal of any realm. */
export function checkSignal(signal: AbortSignal | undefined): void {
  if (signal !== undefined && typeof (signal as AbortSignal | null)?.addEventListener !== "function")
    throw invalid("signal", "an AbortSignal", signal);
}
