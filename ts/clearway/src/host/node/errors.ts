// SPDX-License-Identifier: MIT OR Apache-2.0
import { existsSync } from "node:fs";
import { basename } from "node:path";
import { messageOf } from "../../error/clearway-error.js";
import { isTypeScript, type Start, siblingsOf, startFile } from "./task-module.js";

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

/**
 * Runs code that makes an error for the app. The error gets no frames: they would all be of the library, and Node prints the source line of
 * the first one, which is minified, when nothing handles the error.
 */
export function withoutFrames(act: () => void): void {
  const { stackTraceLimit } = Error;
  restore(0);
  try {
    act();
  } finally {
    restore(stackTraceLimit);
  }
}

// Does nothing if the app has frozen `Error`.
function restore(stackTraceLimit: number): void {
  try {
    Error.stackTraceLimit = stackTraceLimit;
  } catch {
    // The errors then have the frames that the app wants.
  }
}

const outOfMemoryText = "JavaScript heap out of memory";

// Maximum number of characters of the end of the output that an explanation has. Enough for the line in which Node refuses an option.
const shownMax = 300;

/** What a child process has written to its stderr, as far as it explains the process's end. */
export class ChildErrors {
  #tail = "";
  #outOfMemory = false;

  add(bytes: Uint8Array): void {
    const text = this.#tail + Buffer.from(bytes).toString("latin1");
    this.#outOfMemory ||= text.includes(outOfMemoryText);
    this.#tail = text.slice(-shownMax);
  }

  /** Returns the error of a process that V8 has aborted because its heap was full. V8 only prints this. */
  outOfMemory(how: number | string | undefined): { reason: unknown } | undefined {
    // A process that runs as a shell's child reports the signal as an exit code.
    if (!this.#outOfMemory || (how !== "SIGABRT" && how !== 134)) return undefined;
    const reason = new Error("the process reached the limit of its JavaScript heap");
    return { reason: Object.assign(reason, { code: "ERR_WORKER_OUT_OF_MEMORY" }) };
  }

  /** Adds to an explanation how the process has ended, and what it printed last. */
  explain(how: number | string | undefined, what: string): string {
    const end = typeof how === "string" ? `the signal ${how}` : `exit code ${how}`;
    const printed = this.#tail.trim();
    return `${what} (${end})${printed && `; it printed: ${Buffer.from(printed, "latin1").toString()}`}`;
  }
}
