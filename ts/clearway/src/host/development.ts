// SPDX-License-Identifier: MIT OR Apache-2.0

declare const process: { env: { NODE_ENV?: string } };

/** Time in milliseconds that the copy of one message may take. A longer one is three dropped frames of a page, so it is worth a warning. */
export const cloneMsMax = 50;

/**
 * Returns whether the app runs in development: `process.env.NODE_ENV` is there, or bundlers have replaced it, and it is not "production".
 * A page without a bundler has no `process`, so nothing says that it is in development.
 */
export function inDevelopment(): boolean {
  try {
    // Bundlers replace exactly this expression, and not a test of `typeof process` before it.
    return process.env.NODE_ENV !== "production";
  } catch {
    return false;
  }
}
