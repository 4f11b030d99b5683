// SPDX-License-Identifier: MIT OR Apache-2.0
import { type ClearwayError, caused } from "./clearway-error.js";
import type { ErrorCode } from "./codes.js";
import { messageOf } from "./message-of.js";

/**
 * Returns the error for a lazy module that could not be loaded. The import's message names the file. Vite's dev server answers with 504 for
 * files that it discovers late.
 */
export function notLoaded(what: string, cause: unknown, code: ErrorCode = "missing-package"): ClearwayError {
  const hint = hasProcesses ? "" : '. In Vite\'s dev server, set optimizeDeps: { exclude: ["clearway"] }';
  return caused(code, `${what} could not be loaded: ${messageOf(cause)}${hint}`, cause);
}
