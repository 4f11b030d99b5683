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
