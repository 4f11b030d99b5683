// SPDX-License-Identifier: MIT OR Apache-2.0
// An error from a worker knows the worker's half of the way only. Capturing the caller's stack at every call costs 2 us
// (4 when the caches are cold), on every call, for the few that fail. V8 can tell later who awaits a promise: a handler
// that runs because a promise was rejected sees the functions that await it as `at async …` frames, also through a
// promise that was resolved with that one. So only failures pay. What it cannot see is a caller that neither awaits nor
// is awaited; streams and cold calls capture at the call.

/** The stack above `below`, without the line that names the error; empty where the engine has no such thing. */
export function stackAbove(below: (...args: never[]) => unknown): string {
  const trace: { stack?: string } = {};
  (Error as { captureStackTrace?(target: object, below: unknown): void }).captureStackTrace?.(trace, below);
  const stack = trace.stack ?? "";
  return stack.includes("\n") ? stack.slice(stack.indexOf("\n") + 1) : "";
}

/**
 * A promise to settle another with: it rejects. `stitch` gets the error first, for one that was made for one call: a caller's
 * own abort reason is not ours to change.
 */
export function rejected(reason: unknown, stitch: ((error: unknown) => never) | undefined): Promise<never> {
  // Rejects one turn later, when the other promise hangs on this one and the stack can be seen.
  const later = Promise.resolve().then(() => Promise.reject(reason));
  return stitch ? later.catch(stitch) : later;
}
