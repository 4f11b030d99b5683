// SPDX-License-Identifier: MIT OR Apache-2.0
// The statuses of clearway.h, and the error code for each. A test compares the numbers with the header.
import { NativeError, type NativeErrorCode, textOf } from "./error.js";

/** The header's `CLEARWAY_...` statuses, by name. */
export const statuses = {
  OK: 0,
  PENDING: 1,
  INVALID_ARGUMENT: 2,
  STALE: 3,
  OUT_OF_MEMORY: 4,
  TOO_LARGE: 5,
  FULL: 6,
  CLOSED: 7,
  NO_HANDLER: 8,
  ALREADY_EXISTS: 9,
  VERSION: 10,
  LOAD_FAILED: 11,
  NOT_A_PLUGIN: 12,
  INIT_FAILED: 13,
  PANICKED: 14,
  NOT_IMPLEMENTED: 15,
  FAILED: 16,
  CANCELLED: 17,
  TIMEOUT: 18,
  OVERFLOW: 19,
} as const;

const codes: Record<Exclude<keyof typeof statuses, "OK" | "PENDING">, NativeErrorCode> = {
  INVALID_ARGUMENT: "invalid-argument",
  STALE: "released",
  OUT_OF_MEMORY: "out-of-memory",
  TOO_LARGE: "too-large",
  FULL: "full",
  CLOSED: "closed",
  NO_HANDLER: "no-handler",
  ALREADY_EXISTS: "invalid-argument",
  VERSION: "wrong-version",
  LOAD_FAILED: "load-failed",
  NOT_A_PLUGIN: "not-a-plugin",
  INIT_FAILED: "init-failed",
  PANICKED: "panicked",
  NOT_IMPLEMENTED: "not-implemented",
  FAILED: "failed",
  CANCELLED: "cancelled",
  TIMEOUT: "cancelled",
  OVERFLOW: "overflow",
};

const byStatus = new Map<number, NativeErrorCode>(
  Object.entries(codes).map(([name, code]) => [statuses[name as keyof typeof statuses], code]),
);

// The lowest number of a status that a plugin may define.
const pluginStatusMin = 1000;

/**
 * Returns the error for a status other than `CLEARWAY_OK`. `what` names the channel or the function that failed. `text` is the description
 * from the plugin, or empty.
 */
export function statusError(status: number, what: string, text = ""): NativeError {
  const code = byStatus.get(status) ?? (status >= pluginStatusMin ? "failed" : "bad-answer");
  return new NativeError(code, `${what}: ${text === "" ? `${code} (status ${status})` : text}`);
}

/** Returns the error for a channel whose handler did not answer during a direct call. */
export function notDirectError(channel: string): NativeError {
  return new NativeError("not-direct", `${channel}: its handler runs elsewhere, or answers later: use send()`);
}

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
