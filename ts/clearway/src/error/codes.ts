// SPDX-License-Identifier: MIT OR Apache-2.0
import type { ChannelErrorCode } from "./channel-codes.js";
import type { CodecErrorCode } from "./codec-codes.js";

/**
 * Every code of a {@link ClearwayError}, except for those of codecs and channels.
 *
 * Those are `codecErrorCodes` and `channelErrorCodes` of `clearway/channel`. The list is a contract: other languages use the same
 * codes, and a test compares it, with each code's comment, with `spec/errors.md`.
 */
export const errorCodes = [
  /** an argument or an option is out of its range; the message names it and its value */
  "invalid-argument",
  /** the task module exposes no task of that name */
  "unknown-task",
  /** a value holds something that cannot cross a thread, such as a function or a symbol, or is nested more than 500 deep */
  "not-cloneable",
  /** `strict` was asked for and memory would have been copied instead of moved */
  "would-copy",
  /** the queue was full and `whenFull` is `fail` */
  "queue-full",
  /** the call was dropped from a full queue (`dropOldest` or `dropNewest`) */
  "dropped",
  /** the call was cancelled without a reason of the caller's own */
  "cancelled",
  /** the task ran longer than `timeoutMs`, counted from its start */
  "timeout",
  /** the call was not finished within `deadlineMs`, counted from its submission */
  "deadline",
  /** the worker could not be started, or its module did not call `expose()` */
  "worker-start-failed",
  /** the worker died of an uncaught error while the call was with it */
  "worker-crashed",
  /** the worker ended itself (process.exit, self.close) while the call was with it */
  "worker-exited",
  /** the worker reached its memory limit while the call was with it */
  "out-of-memory",
  /** a message that held the call, or its answer, could not be read */
  "message-error",
  /** a resource of the task could not be opened; the cause is attached */
  "resource-failed",
  /** the pool is closed or closing and takes no new calls */
  "pool-closed",
  /** the pool was terminated while the call was under way */
  "pool-terminated",
  /** the task gives one result; it cannot be iterated */
  "not-a-stream",
  /** the stream's consumer was collected as garbage before the stream's end */
  "abandoned",
  /** the memory was read after it had been moved away or released */
  "released",
  /** an optional package that this needs is not installed; the message names it */
  "missing-package",
  /** the other side sent something that is not part of the protocol */
  "protocol",
] as const;

/** One of the codes of {@link errorCodes}, of a codec or of a channel. */
export type ErrorCode = (typeof errorCodes)[number] | CodecErrorCode | ChannelErrorCode;
