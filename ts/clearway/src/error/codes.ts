// SPDX-License-Identifier: MIT OR Apache-2.0
import type { ChannelErrorCode } from "./channel-codes.js";
import type { CodecErrorCode } from "./codec-codes.js";
import type { RemoteErrorCode } from "./remote-codes.js";

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
