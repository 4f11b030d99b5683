// SPDX-License-Identifier: MIT OR Apache-2.0

/**
 * Returns an object's string tag, whatever its realm. `instanceof` does not recognise objects of an iframe, a `vm` context or a test
 * runner, because their classes are not this realm's.
 */
export function tagOf(value: unknown): string {
  return Object.prototype.toString.call(value).slice(8, -1);
}

/** Returns whether this is an ArrayBuffer, of any realm. */
export function isBuffer(value: unknown): value is ArrayBuffer {
  return tagOf(value) === "ArrayBuffer";
}
