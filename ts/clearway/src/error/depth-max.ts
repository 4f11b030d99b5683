// SPDX-License-Identifier: MIT OR Apache-2.0

/**
 * The deepest nesting of a value that may cross a thread.
 *
 * Structured clone recurses. Chromium's workers cannot read objects nested 1,294 deep, nor can Node's main thread at 2,011 (measured),
 * although posting them succeeds; the whole message is then lost. The limit is less than half of that, because stacks differ between
 * platforms and with `stackSizeMb`.
 */
export const depthMax = 500;
