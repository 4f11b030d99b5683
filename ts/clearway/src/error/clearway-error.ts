// SPDX-License-Identifier: MIT OR Apache-2.0

const brand = Symbol.for("clearway.error");

/**
 * An error that Clearway itself throws. An error that your task throws keeps its own class name, message and properties.
 *
 * Distinguish errors by {@link ClearwayError.code}, never by the message.
 */
export class ClearwayError extends Error {
  override readonly name = "ClearwayError";
  /** The kind of error. The list of codes is closed. */
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }

  /**
   * Makes `instanceof` recognize the errors of every copy of this class, by their brand. Each entry point of the package is bundled with
   * its own copy of the class.
   */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return isBranded(value, brand);
  }
}

// Sets the brand outside the class body. Bundlers rename a class that uses its own name in its body, and its errors would then print as
// "_ClearwayError".
Object.defineProperty(ClearwayError.prototype, brand, { value: true });

/** Returns whether a value has a brand. Never throws: a thrown value can be anything, for example a revoked Proxy. */
export function isBranded(value: unknown, key: symbol): boolean {
  try {
    return (value as { [key: symbol]: unknown } | null | undefined)?.[key] === true;
  } catch {
    return false;
  }
}

/** Returns an error with the given cause. If the cause is undefined, the error has no `cause` property. */
export function caused(code: ErrorCode, message: string, cause: unknown): ClearwayError {
  return new ClearwayError(code, message, cause === undefined ? cause : { cause });
}

/** Returns an `invalid-argument` error with the message `name must be …: name=value`. Does not read the properties of the value. */
export function invalid(name: string, must: string, value: unknown): ClearwayError {
  return new ClearwayError("invalid-argument", `${name} must be ${must}: ${name}=${shown(value)}`);
}

/** Formats a value for an error message. Does not read the properties of an object, because a getter would run the app's code. */
function shown(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value);
  return Object(value) === value ? `[${typeof value}]` : String(value);
}

/** Returns the message of a thrown value as text. Never throws, even if a getter, `toString` or a revoked Proxy throws. */
export function messageOf(thrown: unknown): string {
  try {
    return String(thrown instanceof Error ? thrown.message : thrown);
  } catch {
    return "unreadable";
  }
}

/** Whether stacks of this engine begin with a line that has the error's message, as V8's do. */
let headed: boolean | undefined;

/**
 * Returns the frames of the functions that called `below`, directly or indirectly, without the error's first line. Empty if the engine has
 * no `captureStackTrace`, or if `below` is not on the stack.
 */
export function stackAbove(below: (...args: never[]) => unknown): string {
  const trace: { stack?: string } = {};
  (Error as { captureStackTrace?(target: object, below: unknown): void }).captureStackTrace?.(trace, below);
  const stack = trace.stack ?? "";
  headed ??= new Error("header").stack?.split("\n", 1)[0]?.includes("header") ?? false;
  if (!headed) return stack.trimEnd();
  return stack.includes("\n") ? stack.slice(stack.indexOf("\n") + 1) : "";
}

/** Returns the caller's stack in the form that is appended to a worker's stack. Returns an empty string for an empty stack. */
export function calledFrom(callerStack: string): string {
  return callerStack && `\n    --- called from ---\n${callerStack}`;
}

/** Defines a property that can be changed later. Even a property named `__proto__` becomes an ordinary property. */
export function define(target: object, key: PropertyKey, value: unknown, enumerable = false): void {
  try {
    Object.defineProperty(target, key, { value, enumerable, configurable: true, writable: true });
  } catch {
    // Some objects reject a property. A DOMException, for example, rejects `code`. The DOMException's own `code` has the same value.
  }
}

/**
 * The error codes that only channels use. These codes are in a separate file, so that an app without channels does not load them. The page
 * spec/errors.md lists all codes. A test compares the comment of each code with that page.
 */
export const channelErrorCodes = [
  /** the other end's handler for the channel has no such method; for a foreign end, there may be no handler */
  "not-implemented",
  /** the other end has no handler for the channel, or is closing */
  "no-handler",
  /** the transport closed, and the call or stream ended with it */
  "transport-closed",
] as const;

/** One of the codes of {@link channelErrorCodes}. */
export type ChannelErrorCode = (typeof channelErrorCodes)[number];

/**
 * The error codes that a codec throws. Each of these errors has an `offset`.
 *
 * These codes are in a separate file, so that an app without channels does not load them. The page spec/errors.md lists all codes. The page
 * spec/wire.md defines the offset for each code. A test compares the comment of each code with spec/errors.md.
 */
export const codecErrorCodes = [
  /** the bytes end before the value does, or a count is larger than the remaining bytes */
  "truncated",
  /** bytes follow the end of the value */
  "trailing-bytes",
  /** a type byte is reserved, or belongs to an extension that this codec does not have */
  "unknown-tag",
  /** a text is not UTF-8 */
  "bad-utf8",
  /** content does not match its type: digits of a big integer, a method's envelope, JSON */
  "malformed",
  /** lists, maps and extension values are nested deeper than `depthMax` */
  "too-deep",
  /** a count or a size exceeds the codec's limit, or the largest that the format can express */
  "too-large",
  /** the codec has no form for a value, such as a function or a Date */
  "not-encodable",
  /** the host is big-endian */
  "unsupported-host",
] as const;

/** One of the codes of {@link codecErrorCodes}. */
export type CodecErrorCode = (typeof codecErrorCodes)[number];

/**
 * The error codes that only pools with workers on other machines use. These codes are in a separate file, so that an app without such pools
 * does not load them. The page spec/errors.md lists all codes. A test compares the comment of each code with that page.
 */
export const remoteErrorCodes = [
  /** the connection to the servers that carry the calls could not be made; the cause is attached */
  "connect-failed",
  /** the servers do not allow this user to send to the module's workers, or to receive their answers; the cause is attached */
  "not-allowed",
  /** no worker process serves the module */
  "no-worker",
  /** worker processes serve the module, but none of them the version that the caller asked for */
  "wrong-version",
  /** the worker process that had the call has ended, or was not heard of for too long */
  "worker-lost",
  /** an earlier run of the call ended without an outcome, and the task is not marked as idempotent */
  "interrupted",
  /** the call was given up, because all its runs ended without an outcome */
  "dead-letter",
  /** the servers have lost the streams of the module, and the call or its outcome with them; the call may have run */
  "storage-lost",
] as const;

/** One of the codes of {@link remoteErrorCodes}. */
export type RemoteErrorCode = (typeof remoteErrorCodes)[number];

/**
 * The codes of a {@link ClearwayError}, without those of codecs, channels and remote pools.
 *
 * `clearway/channel` exports the codes of codecs and channels, as `codecErrorCodes` and `channelErrorCodes`, and `clearway/remote` those of
 * remote pools, as `remoteErrorCodes`. The list is a contract: other languages use the same codes. A test compares the list, with the comment
 * of each code, with `spec/errors.md`.
 */
export const errorCodes = [
  /** an argument or an option is out of its range; the message names it and its value */
  "invalid-argument",
  /** the task module exposes no task of that name */
  "unknown-task",
  /** a value contains something that cannot cross threads, such as a function or a symbol, or is nested more than 500 deep */
  "not-cloneable",
  /** `strict` was set, and memory would have been copied instead of moved; or memory under `move()` cannot move */
  "would-copy",
  /** the queue was full and `whenFull` is `fail` */
  "queue-full",
  /** the call was dropped from a full queue (`dropOldest` or `dropNewest`) */
  "dropped",
  /** the call was cancelled, and the caller gave no reason */
  "cancelled",
  /** the task ran longer than `timeoutMs`, counted from its start */
  "timeout",
  /** the call did not finish within `deadlineMs`, counted from its submission; or a channel's other end sent no hello in time */
  "deadline",
  /** the worker could not be started, or its module did not call `expose()` */
  "worker-start-failed",
  /** the task module's `setup` failed in a new worker; the cause is attached */
  "setup-failed",
  /** an uncaught error ended the worker that had the call */
  "worker-crashed",
  /** the worker that had the call ended itself (process.exit, self.close), or a signal ended its process */
  "worker-exited",
  /** the worker that had the call reached its memory limit */
  "out-of-memory",
  /** a message with the call or its answer could not be read */
  "message-error",
  /** a resource of the task could not be opened; the cause is attached */
  "resource-failed",
  /** a broadcast failed in at least one worker; the error's `failures` name them */
  "broadcast-failed",
  /** the pool is closed or closing and takes no new calls */
  "pool-closed",
  /** the pool was terminated while the call was pending */
  "pool-terminated",
  /** a task called a callback of its caller after the call had ended */
  "callback-ended",
  /** a value contains an instance whose transfer handler the receiving side has not registered */
  "unknown-handler",
  /** the task returns one result, which cannot be iterated */
  "not-a-stream",
  /** the stream's consumer was garbage-collected before the stream ended */
  "abandoned",
  /** memory was read after it was moved away or released */
  "released",
  /** an optional package is not installed; the message names it */
  "missing-package",
  /** the other side sent something that the protocol does not allow */
  "protocol",
] as const;

/**
 * Every code of a `ClearwayError`: the codes of pools and tasks, of codecs, of channels, and of remote pools. The page `spec/errors.md`
 * explains each code.
 */
export type ErrorCode = (typeof errorCodes)[number] | CodecErrorCode | ChannelErrorCode | RemoteErrorCode;
