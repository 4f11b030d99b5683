// SPDX-License-Identifier: MIT OR Apache-2.0

/**
 * The error codes that only channels use. These codes are in a separate file, so that an app without channels does not load them. The page
 * spec/errors.md lists all codes. A test compares the comment of each code with that page.
 */
export const channelErrorCodes = [
  /** the other end's handler for the channel has no such method; for a foreign end, there may be no handler */
  "not-implemented",
  /** the other end has no handler for the channel */
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
