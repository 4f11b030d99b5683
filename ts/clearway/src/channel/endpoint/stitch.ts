// SPDX-License-Identifier: MIT OR Apache-2.0
import { define, underSeam } from "../../error/stack.js";
import { RemoteError } from "./remote-error.js";

/**
 * Puts the stack of whoever awaits a call under that of the other end's error. Only failures pay: V8 can tell who awaits a
 * promise when that is rejected (spec/decisions/the-callers-stack-is-taken-when-a-call-fails.md).
 */
export function stitched<T>(call: Promise<T>): Promise<T> {
  return call.catch(stitch);
}

/** What it does where a call has failed: for who handles that and the reply in one step. */
export function stitch(error: unknown): never {
  if (!(error instanceof RemoteError)) throw error;
  const trace: { stack?: string } = {};
  (Error as { captureStackTrace?(target: object, below: unknown): void }).captureStackTrace?.(trace, stitch);
  const stack = trace.stack ?? "";
  if (stack.includes("\n"))
    define(error, "stack", (error.stack ?? "") + underSeam(stack.slice(stack.indexOf("\n") + 1)));
  throw error;
}
