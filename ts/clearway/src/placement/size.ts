// SPDX-License-Identifier: MIT OR Apache-2.0
import { isBuffer } from "../host/tag.js";
import { isMap, isSet } from "../transfer/find.js";

// Of a list, the first element stands for the others; deeper than two levels nothing is looked at.
const depthMax = 2;

/**
 * The class of a call's arguments: calls of one class are expected to cost alike. It is made of two octaves: of how much
 * there is (elements, characters, bytes), and of the largest number that stands as an argument itself, because a count
 * (`primes(1e6)`) costs what it says. Looks at a few values; copies and allocates nothing.
 */
export function argumentClass(args: readonly unknown[]): number {
  let size = 0;
  let largest = 0;
  for (let at = 0; at < args.length; at++) {
    const value = args[at];
    if (typeof value === "number") {
      const magnitude = Math.abs(value);
      if (magnitude > largest) largest = magnitude;
    } else size += sizeOf(value, 0);
  }
  return octave(size) * 64 + octave(largest);
}

function sizeOf(value: unknown, depth: number): number {
  if (typeof value === "string") return value.length;
  if (value === null || typeof value !== "object") return typeof value === "bigint" ? octave(Number(value)) : 0;
  if (ArrayBuffer.isView(value)) return value.byteLength;
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== Array.prototype) {
    if (isBuffer(value)) return value.byteLength;
    if (isMap(value) || isSet(value)) return value.size * 2;
  }
  if (depth === depthMax) return 1;
  if (Array.isArray(value)) return value.length * (1 + sizeOf(value[0], depth + 1));
  let sum = 1;
  for (const key in value) sum += 1 + sizeOf((value as Record<string, unknown>)[key], depth + 1);
  return sum;
}

/** 0 for what is below 1, then one class for each power of two, up to 63. NaN is 0; infinity is 63. */
function octave(value: number): number {
  if (!(value >= 1)) return 0;
  if (value < 2 ** 31) return 32 - Math.clz32(value);
  return Math.min(63, Math.floor(Math.log2(value)) + 1);
}
