// SPDX-License-Identifier: MIT OR Apache-2.0

/** An error in the command's arguments. The command prints its message without a stack trace, and exits with status 2. */
export class UsageError extends Error {}
