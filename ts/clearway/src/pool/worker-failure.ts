// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError, caused } from "../error/clearway-error.js";

/** Why a worker never became ready. */
export function startFailure(why: string, cause?: unknown): ClearwayError {
  const hint = "Is the URL right, and does the module call expose()?";
  return caused("worker-start-failed", `the worker could not be started: ${why}. ${hint}`, cause);
}

/**
 * Why a worker that was ready is gone: by its last uncaught error, where that ends a worker, and its exit code. Where there
 * are no exit codes, in browsers, a worker outlives its errors and ends by other means, perhaps long after.
 */
export function exitFailure(uncaught: { error: unknown } | undefined, code: number | undefined): ClearwayError {
  if (uncaught === undefined || code === undefined) {
    return caused(
      "worker-exited",
      `the worker ended itself${code === undefined ? "" : ` with exit code ${code}`}`,
      undefined,
    );
  }
  const { error } = uncaught;
  return (error as { code?: unknown } | null)?.code === "ERR_WORKER_OUT_OF_MEMORY"
    ? caused("out-of-memory", "the worker reached its memory limit", error)
    : caused("worker-crashed", `an uncaught error ended the worker: ${messageOf(error)}`, error);
}

/** What an error says; anything else as text. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** What calls that come too late, or take too long, fail with. */
export function poolClosed(more = ""): ClearwayError {
  return new ClearwayError("pool-closed", `the pool is closed${more}`);
}
