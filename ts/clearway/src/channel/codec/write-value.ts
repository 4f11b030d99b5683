// SPDX-License-Identifier: MIT OR Apache-2.0

import { bigIntegerDigitsMax, type CodecError, codecError, requireMemory } from "./codec.js";
import { type Extension, type Extensions, valueWriter } from "./extension.js";
import { attachmentTag, Float64, Tag } from "./tags.js";
import type { Writer } from "./writer.js";

/** Settings for writing a value. */
interface WriteOptions {
  readonly depthMax: number;
  readonly extensions: Extensions;
}

type NumberList = Int32Array | BigInt64Array | Float32Array | Float64Array;

interface Form {
  readonly tag: number;
  readonly alignment: number;
}

const forms: readonly (readonly [{ readonly name: string; readonly prototype: object }, Form])[] = [
  [Uint8Array, { tag: Tag.uint8List, alignment: 1 }],
  [Uint8ClampedArray, { tag: Tag.uint8List, alignment: 1 }],
  [Int32Array, { tag: Tag.int32List, alignment: 4 }],
  [BigInt64Array, { tag: Tag.int64List, alignment: 8 }],
  [Float32Array, { tag: Tag.float32List, alignment: 4 }],
  [Float64Array, { tag: Tag.float64List, alignment: 8 }],
];
const formByPrototype = new Map(forms.map(([list, form]) => [list.prototype, form]));
const formsByName = new Map(forms.map(([list, form]) => [list.name, form]));

/** Writes a value with its type byte. `depth` counts the lists, maps and extension values around it. */
export function writeValue(writer: Writer, value: unknown, depth: number, options: WriteOptions): void {
  switch (typeof value) {
    case "string":
      writer.byte(Tag.string);
      return writer.text(value);
    case "number":
      return writeNumber(writer, value);
    case "boolean":
      return writer.byte(value ? Tag.true : Tag.false);
    case "object":
      return value === null ? writer.byte(Tag.null) : writeObject(writer, value, depth, options);
    case "undefined":
      return writer.byte(Tag.null);
    case "bigint":
      return writeInteger(writer, value);
    default:
      throw codecError("not-encodable", `the codec has no form for a ${typeof value}`, writer.offset);
  }
}

// Writes whole numbers below 2^53 as integers. Larger numbers may not be exact, so they are written as floats. -0 is written as
// a float too.
function writeNumber(writer: Writer, value: number): void {
  if ((value | 0) === value && (value !== 0 || 1 / value > 0)) {
    writer.room(5);
    writer.bytes[writer.at++] = Tag.int32;
    return writer.int32(value);
  }
  if (Number.isSafeInteger(value) && value !== 0) {
    writer.byte(Tag.int64);
    // Writing two halves avoids a bigint. The upper half is rounded down, so the lower half is never negative.
    const upper = Math.floor(value / 0x1_0000_0000);
    writer.uint32(value - upper * 0x1_0000_0000);
    return writer.int32(upper);
  }
  writer.byte(Tag.float64);
  writer.float64(value);
}

function writeInteger(writer: Writer, value: bigint): void {
  if (BigInt.asIntN(32, value) === value) {
    writer.byte(Tag.int32);
    writer.int32(Number(value));
  } else if (BigInt.asIntN(64, value) === value) {
    writer.byte(Tag.int64);
    writer.int64(value);
  } else {
    const digits = value.toString(16);
    const count = value < 0n ? digits.length - 1 : digits.length;
    if (count > bigIntegerDigitsMax)
      throw codecError(
        "too-large",
        `a big integer of ${count} hex digits; ${bigIntegerDigitsMax} at most`,
        writer.offset,
      );
    writer.byte(Tag.bigInteger);
    writer.text(digits);
  }
}

function writeObject(writer: Writer, value: object, depth: number, options: WriteOptions): void {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Array.prototype && Array.isArray(value)) return writeList(writer, value, depth, options);
  if (prototype === Object.prototype || prototype === null)
    return writeRecord(writer, value, prototype, depth, options);
  const own = options.extensions.byPrototype.get(prototype as object);
  if (own !== undefined) return writeExtension(writer, value, own, depth, options);
  // An array of a subclass without an extension, or of another realm.
  if (Array.isArray(value)) return writeList(writer, value, depth, options);
  if (ArrayBuffer.isView(value)) return writeView(writer, value);
  if (value instanceof Float64) {
    writer.byte(Tag.float64);
    return writer.float64(value.value);
  }
  if (value instanceof Map) return writeMap(writer, value, depth, options);
  if (isRecord(prototype as object)) return writeRecord(writer, value, prototype, depth, options);
  const name = (value.constructor as { name?: unknown } | undefined)?.name;
  throw codecError("not-encodable", `the codec has no form for an object of class ${String(name)}`, writer.offset);
}

// Checks whether a prototype is the `Object.prototype` of another realm (an iframe, `node:vm`). Its objects are plain objects.
function isRecord(prototype: object): boolean {
  return Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, "isPrototypeOf");
}

function enter(writer: Writer, depth: number, { depthMax }: WriteOptions): number {
  if (depth >= depthMax)
    throw codecError("too-deep", `values are nested deeper than ${depthMax}, or in a circle`, writer.offset);
  return depth + 1;
}

function writeList(writer: Writer, list: readonly unknown[], depth: number, options: WriteOptions): void {
  const inside = enter(writer, depth, options);
  const { length } = list;
  writer.byte(Tag.list);
  writer.count(length);
  for (let index = 0; index < length; index++) writeValue(writer, list[index], inside, options);
}

function writeRecord(writer: Writer, record: object, prototype: unknown, depth: number, options: WriteOptions): void {
  const inside = enter(writer, depth, options);
  if (!inheritsNothing(prototype)) return writeEntries(writer, Object.entries(record), inside, options);
  let count = 0;
  for (const _ in record) count++;
  writer.byte(Tag.map);
  writer.count(count);
  for (const key in record) {
    count--;
    writer.byte(Tag.string);
    writer.text(key);
    writeValue(writer, (record as Record<string, unknown>)[key], inside, options);
  }
  if (count !== 0) throw changed(writer);
}

// `for in` reads the engine's own list of an object's keys. `Object.keys` copies that list, which takes a fifth of the time of
// encoding rows. But `for in` also visits enumerable properties of `Object.prototype`. This function returns false if there are
// any.
function inheritsNothing(prototype: unknown): boolean {
  if (prototype === null) return true;
  if (prototype !== Object.prototype) return false;
  for (const _ in none) return false;
  return true;
}

const none = {};

// Returns the error for an object or a `Map` whose number of entries changed while it was written. A getter or an extension may
// do this. The count in the message is then wrong.
function changed(writer: Writer): CodecError {
  return codecError("not-encodable", "an object or a Map changed while it was written", writer.offset);
}

function writeMap(writer: Writer, map: ReadonlyMap<unknown, unknown>, depth: number, options: WriteOptions): void {
  writeEntries(writer, map, enter(writer, depth, options), options, map.size);
}

function writeEntries(
  writer: Writer,
  entries: Iterable<readonly [unknown, unknown]>,
  inside: number,
  options: WriteOptions,
  size = (entries as readonly unknown[]).length,
): void {
  writer.byte(Tag.map);
  writer.count(size);
  let count = 0;
  for (const [key, value] of entries) {
    count++;
    writeValue(writer, key, inside, options);
    writeValue(writer, value, inside, options);
  }
  if (count !== size) throw changed(writer);
}

function writeView(writer: Writer, view: ArrayBufferView): void {
  const form = formByPrototype.get(Object.getPrototypeOf(view)) ?? formByName(view);
  if (form === undefined) {
    const name = (view as { [Symbol.toStringTag]?: string })[Symbol.toStringTag];
    throw codecError("not-encodable", `the codec has no form for a ${name}`, writer.offset);
  }
  const { tag, alignment } = form;
  if (view.byteLength === 0) requireMemory(view);
  const index = writer.sink?.take(view) ?? -1;
  if (index >= 0) {
    writer.byte(attachmentTag);
    writer.byte(tag);
    return writer.size(index);
  }
  writer.byte(tag);
  writer.size((view as NumberList).length);
  if (alignment > 1) writer.pad(alignment);
  writer.list(view);
}

// Finds the form of a list whose class is a subclass, such as `Buffer`, or comes from another realm.
function formByName(view: ArrayBufferView): Form | undefined {
  return formsByName.get((view as { [Symbol.toStringTag]?: string })[Symbol.toStringTag] ?? "");
}

function writeExtension(writer: Writer, value: object, own: Extension, depth: number, options: WriteOptions): void {
  const inside = enter(writer, depth, options);
  writer.byte(own.tag);
  // An extension may write one list, change it and write it again. The writer therefore copies its lists at once.
  const { longListBytesMin } = writer;
  writer.longListBytesMin = Number.POSITIVE_INFINITY;
  own.write(
    value,
    valueWriter(writer, (each) => writeValue(writer, each, inside, options)),
  );
  writer.longListBytesMin = longListBytesMin;
}
