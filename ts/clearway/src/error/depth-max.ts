// SPDX-License-Identifier: MIT OR Apache-2.0

/**
 * How deep a value may nest to cross a thread. Structured clone recurses: Chromium's workers cannot read objects nested 1,294 deep
 * and Node's main thread 2,011 (measured), though they could be posted, and then the whole message is lost. Less than half of that:
 * stacks differ between platforms and with `stackSizeMb`.
 */
export const depthMax = 500;
