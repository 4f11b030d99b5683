// SPDX-License-Identifier: MIT OR Apache-2.0

/**
 * What an object is by its own word, whichever realm made it: the classes of an iframe, a `vm` context or a test runner are
 * not this realm's, so `instanceof` misses their objects.
 */
export function tagOf(value: unknown): string {
  return Object.prototype.toString.call(value).slice(8, -1);
}

/** Whether this is an ArrayBuffer, of any realm. */
export function isBuffer(value: unknown): value is ArrayBuffer {
  return tagOf(value) === "ArrayBuffer";
}
