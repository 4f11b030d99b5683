// SPDX-License-Identifier: MIT OR Apache-2.0

/**
 * Returns the string tag of an object, such as "Map", for objects of any realm. `instanceof` does not recognise objects of an iframe, a
 * `vm` context or a test runner, because their classes belong to another realm.
 */
export function tagOf(value: unknown): string {
  return Object.prototype.toString.call(value).slice(8, -1);
}

/** Returns whether the value is an ArrayBuffer, of any realm. May run a getter of the value. */
export function isBuffer(value: unknown): value is ArrayBuffer {
  return tagOf(value) === "ArrayBuffer";
}

/**
 * Returns the size in bytes of an ArrayBuffer of any realm, and undefined for any other value. Runs no code of the value, unlike
 * {@link isBuffer}, but is slow for other values.
 */
export function bufferBytes(value: unknown): number | undefined {
  try {
    // Runs the getter of every buffer with this value as `this`. It throws for all other values.
    return Reflect.get(ArrayBuffer.prototype, "byteLength", value);
  } catch {
    return;
  }
}

/** Returns the total size in bytes of the buffers among these objects. */
export function totalBufferBytes(objects: readonly object[]): number {
  return objects.reduce((sum, each) => sum + (bufferBytes(each) ?? 0), 0);
}

const typedArray = /* @__PURE__ */ Object.getPrototypeOf(Uint8Array.prototype) as object;

/** Returns the class that a view had when it was made, such as "Uint8Array". Reads the view's slots. */
export function viewName(view: ArrayBufferView): string {
  return Reflect.get(typedArray, Symbol.toStringTag, view) ?? "DataView";
}

/**
 * Returns the memory that a view shows, by the view's slots. Its properties may say something else: an app can define a property of any
 * name. Throws a TypeError for a DataView whose memory was moved away.
 */
export function memoryOf(view: ArrayBufferView): { buffer: ArrayBufferLike; byteOffset: number; byteLength: number } {
  const prototype = Reflect.get(typedArray, Symbol.toStringTag, view) === undefined ? DataView.prototype : typedArray;
  return {
    buffer: Reflect.get(prototype, "buffer", view),
    byteOffset: Reflect.get(prototype, "byteOffset", view),
    byteLength: Reflect.get(prototype, "byteLength", view),
  };
}
