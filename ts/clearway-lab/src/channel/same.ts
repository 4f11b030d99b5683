// SPDX-License-Identifier: MIT OR Apache-2.0
// Compares an echo with the sent value. Compares the types of typed arrays, but not prototypes: a decoder may return objects
// without a prototype, or a Buffer instead of a Uint8Array.

export function same(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (a === null || b === null || typeof a !== "object" || typeof b !== "object") return false;
  if (ArrayBuffer.isView(a) || ArrayBuffer.isView(b)) return sameList(a, b);
  if (Array.isArray(a) || Array.isArray(b)) {
    return Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((each, at) => same(each, b[at]));
  }
  const own = Object.entries(a);
  return (
    own.length === Object.keys(b).length &&
    own.every(([key, value]) => Object.hasOwn(b, key) && same(value, (b as Record<string, unknown>)[key]))
  );
}

const WIDTHS = [Uint8Array, Int32Array, BigInt64Array, Float32Array, Float64Array];

function sameList(a: object, b: object): boolean {
  const width = WIDTHS.find((each) => a instanceof each);
  if (width === undefined || !(b instanceof width)) return false;
  const [left, right] = [a as Uint8Array, b as Uint8Array];
  return left.length === right.length && left.every((value, at) => Object.is(value, right[at]));
}
