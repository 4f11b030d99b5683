// SPDX-License-Identifier: MIT OR Apache-2.0
import { existsSync } from "node:fs";
import { basename } from "node:path";
import { messageOf } from "../../error/message-of.js";
import { startFile } from "./own-file.js";
import type { Start } from "./start.js";
import { isTypeScript, siblingsOf } from "./task-module.js";

/**
 * Explains why a worker's start failed with this error. Returns undefined if the error's own message says it: an error that the task module
 * threw.
 */
export function explainError(reason: unknown, { module }: Start): string | undefined {
  const { asked, path } = module;
  if (asked === undefined || path === undefined) return undefined;
  if (!existsSync(path)) return `there is no file ${asked}${found(asked)}${bundlerHint(asked)}`;
  if (codeOf(reason) !== "ERR_UNKNOWN_FILE_EXTENSION" || !isTypeScript(path)) return undefined;
  const { node } = process.versions;
  const what =
    asked === path
      ? messageOf(reason) + found(path)
      : `there is no file ${asked}; found ${basename(path)} beside it, which Node ${node} does not load`;
  const advice = "start the app with a loader such as tsx, or compile the file";
  return `${what}; ${advice}${bundlerHint(asked)}`;
}

/** Explains the end of a worker from which no message has arrived. */
export function explainExit({ module }: Start): string {
  return `${module.path ?? "it"} ended before it called expose()`;
}

function found(path: string): string {
  const names = siblingsOf(path);
  return names.length > 0 ? `; found ${names.join(", ")} beside it` : "";
}

// In a bundle, the library does not lie beside its own files. Bundlers follow the URL of a task module only inside `new Worker(…)`.
function bundlerHint(asked: string): string {
  if (startFile() !== undefined) return "";
  const name = basename(asked);
  return `. In a bundle, pass a function instead of the URL: () => new Worker(new URL("./${name}", import.meta.url))`;
}

function codeOf(reason: unknown): unknown {
  try {
    return (reason as { code?: unknown } | null | undefined)?.code;
  } catch {
    return undefined;
  }
}
