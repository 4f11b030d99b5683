// SPDX-License-Identifier: MIT OR Apache-2.0

/**
 * Maximum nesting depth of a value that is sent to another thread.
 *
 * Structured clone is recursive. Chromium's workers cannot read objects nested 1,294 deep, and Node's main thread cannot read 2,011 levels
 * (measured). The sender can still post such an object, but the receiver loses the whole message. The limit is less than half of these
 * depths, because stack sizes differ between platforms and with `stackSizeMb`.
 */
export const depthMax = 500;
