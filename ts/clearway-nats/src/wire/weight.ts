// SPDX-License-Identifier: MIT OR Apache-2.0

// Bytes of memory that V8 takes for the values of a decoded message, measured in Node 20. An empty list of bytes takes 2 bytes of a message
// and 194 of memory, so the size of a message says little about the memory of its values.
const list = 200; // with room for 17 values
const record = 64;
const map = 200;
const numbers = 200;
const other = 64; // values of extensions, which are not looked into
const slot = 8;
const property = 16;
const mapEntry = 40;
const text = 32;

/** The codec's own limits hold for all values except those that an extension makes, which may even be in a circle. */
const depthMax = 300;
const valuesMax = 1 << 23;

let left = 0;

/** Returns about how many bytes of memory a decoded value takes, without the content of texts and of lists of numbers. */
export function weightOf(value: unknown): number {
  left = valuesMax;
  return weigh(value, 0);
}

function weigh(value: unknown, depth: number): number {
  if (typeof value === "string" || typeof value === "bigint") return text;
  if (typeof value !== "object" || value === null) return 0;
  if (ArrayBuffer.isView(value)) return numbers;
  if (depth > depthMax || --left < 0) return other;
  let weight = 0;
  if (Array.isArray(value)) {
    for (const each of value) if (typeof each !== "number") weight += weigh(each, depth + 1);
    return weight + list + slot * value.length;
  }
  if (value instanceof Map) {
    for (const [key, each] of value) weight += mapEntry + weigh(key, depth + 1) + weigh(each, depth + 1);
    return weight + map;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && prototype !== Object.prototype) return other;
  for (const key in value) weight += property + weigh((value as Record<string, unknown>)[key], depth + 1);
  return weight + record;
}
