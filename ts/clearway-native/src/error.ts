// SPDX-License-Identifier: MIT OR Apache-2.0

/** Every code that a {@link NativeError} may have. A test compares the codes and their comments with `spec/errors.md`. */
export const nativeErrorCodes = [
  /** an argument or an option is out of its range; the message names it and its value */
  "invalid-argument",
  /** there is no addon for this system, or it does not load; the message says why */
  "addon-missing",
  /** the library could not be loaded: no such file, built for another system, or a missing symbol */
  "load-failed",
  /** the library is not a Clearway plugin: it exports no `clearway_plugin_init` */
  "not-a-plugin",
  /** the plugin was built for another major version of the ABI, or needs a later minor version */
  "wrong-version",
  /** the plugin's initialisation failed or crashed */
  "init-failed",
  /** the handler runs on another thread or answers later, so `call` cannot wait for it; use `send` */
  "not-direct",
  /** the plugin has no handler and no source for the channel */
  "no-handler",
  /** the handler does not know the method */
  "not-implemented",
  /** the handler failed; the message is the handler's */
  "failed",
  /** the handler panicked; the plugin keeps running */
  "panicked",
  /** the plugin's answer is invalid: a length beyond its memory, or a stale reference */
  "bad-answer",
  /** too many calls are pending, or a queue is full */
  "full",
  /** more bytes or names than the limits allow */
  "too-large",
  /** events came faster than the listener read them, and `whenFull` is `fail` */
  "overflow",
  /** native memory could not be allocated */
  "out-of-memory",
  /** the memory was used after its release */
  "released",
  /** the caller cancelled without a reason of its own */
  "cancelled",
  /** the plugin is closed, or closed before it answered */
  "closed",
  /** the runtime cannot do this without a copy, and a copy was not allowed */
  "would-copy",
] as const;

/** One of the codes of {@link nativeErrorCodes}. */
export type NativeErrorCode = (typeof nativeErrorCodes)[number];

/** An error of this package. Distinguish errors by {@link NativeError.code}, not by their message. */
export class NativeError extends Error {
  override readonly name = "NativeError";
  /** The kind of the error. */
  readonly code: NativeErrorCode;

  constructor(code: NativeErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Makes the error `invalid-argument` for a wrong value. Its message has the form `name must be …: name=value`. */
export function invalid(name: string, must: string, value: unknown): NativeError {
  const shown = typeof value === "string" ? JSON.stringify(value) : textOf(value);
  return new NativeError("invalid-argument", `${name} must be ${must}: ${name}=${shown}`);
}

/** Returns the text of a thrown value. Never throws, even if the value's message cannot be read. */
export function textOf(thrown: unknown): string {
  try {
    return String(thrown instanceof Error ? thrown.message : thrown);
  } catch {
    return "the thrown value has no text";
  }
}

// The statuses of clearway.h, and the error code for each. A test compares the numbers with the header.

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

/** An error in the command's arguments. The command prints its message without a stack trace, and exits with status 2. */
export class UsageError extends Error {}
