// SPDX-License-Identifier: MIT OR Apache-2.0
// What an object really is, whatever realm made it and whatever its own properties say: `instanceof` misses what comes from
// an iframe or a `vm` context, and takes what only inherits; a `length` of an object's own says anything.

const typedArray = Object.getPrototypeOf(Uint8Array.prototype) as object;
const nameOf = getterOf<string | undefined>(typedArray, Symbol.toStringTag);
const lengthOf = getterOf<number>(typedArray, "length");
const bytesOf = getterOf<number>(ArrayBuffer.prototype, "byteLength");
const { getTime } = Date.prototype;

/** `"Uint8Array"` and so on; undefined for what is no typed array. */
export function typedArrayName(value: unknown): string | undefined {
  return nameOf.call(value);
}

/** How many elements a typed array has. Throws for anything else. */
export function typedArrayLength(value: unknown): number {
  return lengthOf.call(value);
}

/** Milliseconds of a `Date`, NaN for an invalid one; undefined for what is none. */
export function timeOf(value: unknown): number | undefined {
  if (value === null || typeof value !== "object") return undefined;
  return whereItIs(getTime, value);
}

/** Whether it is memory that is not shared. */
export function isArrayBuffer(value: unknown): value is ArrayBuffer {
  return whereItIs(bytesOf, value) !== undefined;
}

// Such a method throws for what is not of its kind, and there is no other way to ask.
function whereItIs<T>(method: (this: never) => T, value: unknown): T | undefined {
  try {
    return method.call(value as never);
  } catch {
    return undefined;
  }
}

function getterOf<T>(from: object, name: string | symbol): (this: unknown) => T {
  return Object.getOwnPropertyDescriptor(from, name)!.get as (this: unknown) => T;
}
