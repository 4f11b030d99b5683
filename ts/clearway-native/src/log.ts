// SPDX-License-Identifier: MIT OR Apache-2.0
import { textOf } from "./error.js";

/** Receives the log lines of a plugin. */
export type OnLog = (level: number, text: string) => unknown;

/** Prints warnings and errors of a plugin to stderr. */
export function toStderr(level: number, text: string): void {
  if (level >= 2) console.error(`clearway plugin: ${text}`);
}

/** Calls `onLog` in a microtask, because its error must not stop the pump. Prints its error, also a later rejection. */
export function logLater(onLog: OnLog, level: number, text: string): void {
  Promise.resolve()
    .then(() => onLog(level, text))
    .catch(report);
}

/** Prints an error of `onLog`. */
function report(thrown: unknown): void {
  try {
    console.error("clearway plugin, onLog threw:", thrown);
  } catch {
    // The value cannot be printed.
    console.error(`clearway plugin, onLog threw: ${textOf(thrown)}`);
  }
}
