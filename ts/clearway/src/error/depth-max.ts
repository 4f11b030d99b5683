// SPDX-License-Identifier: MIT OR Apache-2.0

/**
 * The deepest nesting of a value that may cross a thread.
 *
 * Structured clone recurses. Chromium's workers cannot read objects nested 1,294 deep, and Node's main thread cannot read 2,011 levels
 * (measured). Posting such objects succeeds, but then the whole message is lost. The limit is less than half of these depths, because
 * stacks differ between platforms and with `stackSizeMb`.
 */
export const depthMax = 500;
