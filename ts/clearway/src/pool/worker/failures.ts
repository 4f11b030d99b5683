// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError, caused } from "../../error/clearway-error.js";
import { notLoaded } from "../../error/not-loaded.js";

/** Returns the error for a worker that never became ready. */
export function startFailure(why: string, cause?: unknown): ClearwayError {
  const hint = "Is the URL right, and does the module call expose()?";
  return caused("worker-start-failed", `the worker could not be started: ${why.replace(/\.$/, "")}. ${hint}`, cause);
}

/** Returns the error for a pool whose lifecycle code cannot be loaded. Without this code, no worker can become ready. */
export function partMissing(cause: unknown): ClearwayError {
  return notLoaded("a part of the library", cause, "worker-start-failed");
}

/** Returns the error for a call that comes after `close()`, or that takes longer than `close()` waits. */
export function poolClosed(more = ""): ClearwayError {
  return new ClearwayError("pool-closed", `the pool is closed${more}`);
}
