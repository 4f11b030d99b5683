// SPDX-License-Identifier: MIT OR Apache-2.0
import { shownSource } from "#host";
import { type ClearwayError, caused } from "../../error/clearway-error.js";
import type { Engine } from "../engine.js";

/**
 * Returns the error for a worker that never became ready. It names the module, unless `why` does. `isClear` says that `why` is the worker's
 * own error, which needs no hint.
 */
export function startFailure({ source }: Engine, why: string, cause?: unknown, isClear = false): ClearwayError {
  const hint = isClear ? "" : " (is the URL right, and does the module call expose()?)";
  const module = typeof source === "function" ? "" : shownSource(source);
  const of = why.includes(module) ? "" : ` of ${module}`;
  return caused("worker-start-failed", `the worker${of} could not be started: ${why}${hint}`, cause);
}
