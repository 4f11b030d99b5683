// SPDX-License-Identifier: MIT OR Apache-2.0
import { define, underSeam } from "../error/wire.js";

// An error from a worker knows the worker's half of the way only. Capturing the caller's stack at every call costs 2 us
// (4 when the caches are cold), on every call, for the few that fail. V8 can tell later who awaits a promise: a handler
// that runs because the promise was rejected sees its awaiting functions as `at async …` frames, and only failures pay.
// What it cannot see is a caller that neither awaits nor is awaited; streams and cold calls capture at the call.

// Only errors made for one call are written to; a caller's own abort reason is not ours to change.
const ours = new WeakSet<object>();

/** Marks an error as made for one call, so that its caller's stack may be put under its own. Returns it. */
export function ownError<Reason>(reason: Reason): Reason {
  if (reason !== null && typeof reason === "object") ours.add(reason);
  return reason;
}

/** The stack above `below`, without the line that names the error; empty where the engine has no such thing. */
export function stackAbove(below: (...args: never[]) => unknown): string {
  const trace: { stack?: string } = {};
  (Error as { captureStackTrace?(target: object, below: unknown): void }).captureStackTrace?.(trace, below);
  const stack = trace.stack ?? "";
  return stack.includes("\n") ? stack.slice(stack.indexOf("\n") + 1) : "";
}

/** For `promise.catch`: puts the awaiting functions' stack under the error's own, then throws it on. */
export function stitch(reason: unknown): never {
  if (reason instanceof Error && ours.delete(reason)) {
    define(reason, "stack", (reason.stack ?? "") + underSeam(stackAbove(stitch)));
  }
  throw reason;
}
