// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError, caused } from "../error/clearway-error.js";

/** Why a worker never became ready. */
export function startFailure(why: string, cause?: unknown): ClearwayError {
  const hint = "Is the URL right, and does the module call expose()?";
  return caused("worker-start-failed", `the worker could not be started: ${why}. ${hint}`, cause);
}

/** Why no worker counts as ready, where what looks after them is missing. */
export function partMissing(cause: unknown): ClearwayError {
  return caused("worker-start-failed", "a part of the library could not be loaded", cause);
}

/** What calls that come too late, or take too long, fail with. */
export function poolClosed(more = ""): ClearwayError {
  return new ClearwayError("pool-closed", `the pool is closed${more}`);
}
