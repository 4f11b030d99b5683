// SPDX-License-Identifier: MIT OR Apache-2.0

// These checks read an object's internal type. They ignore the object's realm and its own properties. `instanceof` would reject objects of
// an iframe or a `vm` context, and accept objects that only inherit from the prototype. An object's own `length` can have any value.

const typedArray = Object.getPrototypeOf(Uint8Array.prototype) as object;
const nameOf = getterOf<string | undefined>(typedArray, Symbol.toStringTag);
const lengthOf = getterOf<number>(typedArray, "length");
const bytesOf = getterOf<number>(ArrayBuffer.prototype, "byteLength");
const { getTime } = Date.prototype;
// Only the methods of a typed array tell detached memory from none.
const valuesOf = (typedArray as Uint8Array).values;

/** Returns the name of a typed array's class, such as `"Uint8Array"`. Returns undefined for any other value. */
export function typedArrayName(value: unknown): string | undefined {
  return nameOf.call(value);
}

/** Returns the number of elements of a typed array. Throws for any other value. */
export function typedArrayLength(value: unknown): number {
  return lengthOf.call(value);
}

/** Returns whether a typed array shows memory that was moved away, or that its buffer no longer has. Its length is then 0. */
export function isDetached(view: unknown): boolean {
  if (lengthOf.call(view) > 0) return false;
  try {
    return !valuesOf.call(view);
  } catch {
    return true;
  }
}

/** Returns the milliseconds of a `Date`, or NaN for an invalid date. Returns undefined for any other value. */
export function timeOf(value: unknown): number | undefined {
  if (value === null || typeof value !== "object") return undefined;
  return callOrUndefined(getTime, value);
}

/** Returns whether the value is an unshared buffer. */
export function isArrayBuffer(value: unknown): value is ArrayBuffer {
  return callOrUndefined(bytesOf, value) !== undefined;
}

// Calls the method. The method throws for a value of another type, and there is no other test for the type.
function callOrUndefined<T>(method: (this: never) => T, value: unknown): T | undefined {
  try {
    return method.call(value as never);
  } catch {
    return undefined;
  }
}

function getterOf<T>(from: object, name: string | symbol): (this: unknown) => T {
  return Object.getOwnPropertyDescriptor(from, name)!.get as (this: unknown) => T;
}

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const encoder = new TextEncoder();

// The maximum length of a text that a loop handles, in bytes or UTF-16 units. A call of the engine's encoder or decoder costs about as much
// as a loop over 20 characters (measured on Node 20 and Chromium).
const shortMax = 20;

/** Decodes a range of bytes. Invalid UTF-8 becomes U+FFFD. */
export function decodeUtf8(bytes: Uint8Array, start: number, end: number): string {
  if (end - start <= shortMax) {
    let text = "";
    let at = start;
    for (; at < end; at++) {
      const byte = bytes[at]!;
      if (byte > 0x7f) break;
      text += String.fromCharCode(byte);
    }
    if (at === end) return text;
  }
  return decoder.decode(bytes.subarray(start, end));
}

/** Writes a text as UTF-8 at `start` and returns the position of its end. The caller must provide 3 free bytes per UTF-16 unit. */
export function encodeUtf8(text: string, into: Uint8Array, start: number): number {
  const { length } = text;
  if (length <= shortMax) {
    let at = 0;
    for (; at < length; at++) {
      const code = text.charCodeAt(at);
      if (code > 0x7f) break;
      into[start + at] = code;
    }
    if (at === length) return start + length;
  }
  return start + encoder.encodeInto(text, into.subarray(start)).written;
}
