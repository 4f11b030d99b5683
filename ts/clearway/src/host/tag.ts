// SPDX-License-Identifier: MIT OR Apache-2.0

/**
 * Returns the string tag of an object, such as "Map", for objects of any realm. `instanceof` does not recognise objects of an iframe, a
 * `vm` context or a test runner, because their classes belong to another realm.
 */
export function tagOf(value: unknown): string {
  return Object.prototype.toString.call(value).slice(8, -1);
}

/** Returns whether the value is an ArrayBuffer, of any realm. */
export function isBuffer(value: unknown): value is ArrayBuffer {
  return tagOf(value) === "ArrayBuffer";
}
