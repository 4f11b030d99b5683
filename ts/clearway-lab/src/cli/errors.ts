// SPDX-License-Identifier: MIT OR Apache-2.0
// The errors that the command prints without a stack: what was wrong, where, and what to do.

/** A mistake in the command line. The exit status is 2. */
export class UsageError extends Error {}

/** Something that the command needs does not work: a file, a runner, another lab. The exit status is 1. */
export class FailedError extends Error {
  readonly reason: string;
  /** What the user can do about it. */
  readonly next: string;

  constructor(reason: string, next: string) {
    super(`${reason.replace(/\.$/, "")}. To go on: ${next}`);
    this.reason = reason;
    this.next = next;
  }
}
