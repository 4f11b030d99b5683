// SPDX-License-Identifier: MIT OR Apache-2.0
import { calledFrom, define } from "../../error/stack.js";
import { RemoteError } from "./remote-error.js";

/**
 * Appends the stack of the code that awaits a call to the stack of the other end's error. Only failed calls have this cost: V8
 * finds the awaiting code when the promise is rejected (spec/decisions/the-callers-stack-is-taken-when-a-call-fails.md).
 */
export function stitched<T>(call: Promise<T>): Promise<T> {
  return call.catch(stitch);
}

/** The rejection handler of `stitched`. Callers that handle reply and failure in one `then` use it directly. Always throws. */
export function stitch(error: unknown): never {
  if (!(error instanceof RemoteError)) throw error;
  const trace: { stack?: string } = {};
  (Error as { captureStackTrace?(target: object, below: unknown): void }).captureStackTrace?.(trace, stitch);
  const stack = trace.stack ?? "";
  if (stack.includes("\n"))
    define(error, "stack", (error.stack ?? "") + calledFrom(stack.slice(stack.indexOf("\n") + 1)));
  throw error;
}
