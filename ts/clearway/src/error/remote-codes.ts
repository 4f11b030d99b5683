// SPDX-License-Identifier: MIT OR Apache-2.0

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
