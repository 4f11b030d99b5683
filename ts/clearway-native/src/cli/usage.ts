// SPDX-License-Identifier: MIT OR Apache-2.0

/** An error in the arguments: printed without a stack, exit status 2. */
export class UsageError extends Error {}
