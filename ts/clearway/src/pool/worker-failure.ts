// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError, caused } from "../error/clearway-error.js";

/** Why a worker never became ready. */
export function startFailure(why: string, cause?: unknown): ClearwayError {
  const hint = "Is the URL right, and does the module call expose()?";
  return caused("worker-start-failed", `the worker could not be started: ${why}. ${hint}`, cause);
}

/** What an error says; anything else as text. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** What calls that come too late, or take too long, fail with. */
export function poolClosed(more = ""): ClearwayError {
  return new ClearwayError("pool-closed", `the pool is closed${more}`);
}
