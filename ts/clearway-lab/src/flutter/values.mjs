// SPDX-License-Identifier: MIT OR Apache-2.0
// Values in the frames of native/flutter/value.h. A whole number within 2^53 is an int64, and any other number a float64; an object whose
// valueOf() is a number is always a float64.

const TAG = { null: 0, false: 1, true: 2, int: 3, float: 4, text: 5, list: 11, map: 12 };
const LISTS = [
  { tag: 6, List: Uint8Array },
  { tag: 7, List: Int32Array },
  { tag: 8, List: BigInt64Array },
  { tag: 9, List: Float32Array },
  { tag: 10, List: Float64Array },
];
const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Thrown for a value for which the engine has no type. */
export class NoSuchValueError extends Error {
  name = "NoSuchValueError";
}

/** Returns the bytes of a value. Copies. Throws a NoSuchValueError. */
export function valueBytes(value) {
  const parts = [];
  put(parts, value);
  return Buffer.concat(parts);
}

function put(parts, value) {
  if (value === null) parts.push(Buffer.of(TAG.null));
  else if (typeof value === "boolean") parts.push(Buffer.of(value ? TAG.true : TAG.false));
  else if (typeof value === "bigint") putInteger(parts, value);
  else if (typeof value === "number") {
    if (Number.isSafeInteger(value) && !Object.is(value, -0)) putInteger(parts, BigInt(value));
    else putFloat(parts, value);
  } else if (typeof value === "string") {
    const bytes = encoder.encode(value);
    parts.push(head(TAG.text, bytes.length), bytes);
  } else if (typeof value === "object") putObject(parts, value);
  else throw new NoSuchValueError(`the engine has no type for a ${typeof value}`);
}

function putObject(parts, value) {
  const list = LISTS.find(({ List }) => value instanceof List);
  if (list !== undefined) {
    parts.push(head(list.tag, value.length), Buffer.from(value.buffer, value.byteOffset, value.byteLength));
  } else if (Array.isArray(value)) {
    parts.push(head(TAG.list, value.length));
    for (const each of value) put(parts, each);
  } else if (typeof value.valueOf() === "number") putFloat(parts, value.valueOf());
  else {
    const entries = value instanceof Map ? [...value] : Object.entries(value);
    parts.push(head(TAG.map, entries.length));
    for (const [key, each] of entries) {
      put(parts, key);
      put(parts, each);
    }
  }
}

function head(tag, count) {
  const bytes = Buffer.alloc(5);
  bytes[0] = tag;
  bytes.writeUInt32LE(count, 1);
  return bytes;
}

function putInteger(parts, value) {
  if (BigInt.asIntN(64, value) !== value)
    throw new NoSuchValueError("the engine has no type for integers of more than 64 bits");
  const bytes = Buffer.alloc(9);
  bytes[0] = TAG.int;
  bytes.writeBigInt64LE(value, 1);
  parts.push(bytes);
}

function putFloat(parts, value) {
  const bytes = Buffer.alloc(9);
  bytes[0] = TAG.float;
  bytes.writeDoubleLE(value, 1);
  parts.push(bytes);
}

/**
 * Returns the value that the bytes begin with, and `end`, the place behind it. Integers are bigints, and maps are Maps. `float` makes the
 * value of a float64; by default a number.
 */
export function readValue(bytes, at = 0, float = (number) => number) {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const tag = buffer.readUInt8(at);
  if (tag === TAG.null) return { value: null, end: at + 1 };
  if (tag === TAG.false || tag === TAG.true) return { value: tag === TAG.true, end: at + 1 };
  if (tag === TAG.int) return { value: buffer.readBigInt64LE(at + 1), end: at + 9 };
  if (tag === TAG.float) return { value: float(buffer.readDoubleLE(at + 1)), end: at + 9 };
  const count = buffer.readUInt32LE(at + 1);
  let end = at + 5;
  const taken = (size) => {
    if (end + size > buffer.length) throw new RangeError(`the value ends too early: at=${at} bytes=${buffer.length}`);
    end += size;
    return buffer.subarray(end - size, end);
  };
  if (tag === TAG.text) return { value: decoder.decode(taken(count)), end };
  const list = LISTS.find((each) => each.tag === tag);
  if (list !== undefined) {
    const copy = new Uint8Array(taken(count * list.List.BYTES_PER_ELEMENT));
    return { value: new list.List(copy.buffer), end };
  }
  if (tag !== TAG.list && tag !== TAG.map) throw new RangeError(`no such tag: tag=${tag} at=${at}`);
  const items = [];
  const next = () => {
    const read = readValue(bytes, end, float);
    end = read.end;
    return read.value;
  };
  for (let index = 0; index < count; index++) items.push(tag === TAG.list ? next() : [next(), next()]);
  return { value: tag === TAG.list ? items : new Map(items), end };
}
