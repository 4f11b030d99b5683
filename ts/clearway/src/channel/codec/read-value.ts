// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError } from "../../error/clearway-error.js";
import type { Extension, Extensions } from "./extension.js";
import { Float64 } from "./float64.js";
import { guardFor } from "./key-guard.js";
import { bigIntegerDigitsMax } from "./limits.js";
import { readAttached } from "./read-attached.js";
import { readNumbers } from "./read-numbers.js";
import type { Reader } from "./reader.js";
import { refusal } from "./refusal.js";
import { attachmentTag, extensionTags, Tag } from "./tags.js";
import { valueReader } from "./value-reader.js";

/** What reading a value depends on beside the bytes. */
export interface ReadOptions {
  readonly depthMax: number;
  readonly extensions: Extensions;
  readonly lossless: boolean;
}

/** Reads a value with its type byte. `depth` counts the lists, maps and extension values around it. */
export function readValue(reader: Reader, depth: number, options: ReadOptions): unknown {
  const tag = reader.byte();
  switch (tag) {
    case Tag.null:
      return null;
    case Tag.true:
      return true;
    case Tag.false:
      return false;
    case Tag.int32:
      return reader.int32();
    case Tag.int64:
      return reader.integer();
    case Tag.bigInteger:
      return readBigInteger(reader);
    case Tag.float64:
      return readFloat(reader, options.lossless);
    case Tag.string:
      return reader.text();
    case Tag.list:
      return readList(reader, depth, options);
    case Tag.map: {
      const inside = enter(reader, depth, options);
      return options.lossless ? readEntries(reader, inside, options) : readRecord(reader, inside, options);
    }
    default: {
      if (tag === attachmentTag && reader.attached !== undefined) return readAttached(reader, reader.attached);
      const list = readNumbers(reader, tag);
      return list ?? readExtension(reader, tag, depth, options);
    }
  }
}

// The type byte was read; it is the one to name.
function enter(reader: Reader, depth: number, { depthMax }: ReadOptions): number {
  if (depth >= depthMax) throw refusal("too-deep", `values are nested deeper than ${depthMax}`, reader.at - 1);
  return depth + 1;
}

function readFloat(reader: Reader, lossless: boolean): number | Float64 {
  const value = reader.float64();
  // Minus zero, too: as the key of a Map it would become the integer 0.
  return lossless && Number.isSafeInteger(value) ? new Float64(value) : value;
}

function readList(reader: Reader, depth: number, options: ReadOptions): unknown[] {
  const inside = enter(reader, depth, options);
  const count = reader.count(1);
  // Grown and not allocated by the count: nested lists could each announce all that is left.
  const list: unknown[] = [];
  for (let index = 0; index < count; index++) list.push(readValue(reader, inside, options));
  return list;
}

const hex = /^-?[0-9a-f]+$/i;
const minus = 0x2d;

function readBigInteger(reader: Reader): bigint {
  const from = reader.at;
  const size = reader.size();
  reader.need(size, from);
  const count = size > 0 && reader.bytes[reader.at] === minus ? size - 1 : size;
  if (count > bigIntegerDigitsMax)
    throw refusal("too-large", `a big integer of ${count} hex digits; ${bigIntegerDigitsMax} at most`, from);
  reader.at = from;
  const digits = reader.text();
  if (!hex.test(digits)) throw refusal("malformed", "a big integer is not written in hex digits", from);
  return digits.startsWith("-") ? -BigInt(`0x${digits.slice(1)}`) : BigInt(`0x${digits}`);
}

function readExtension(reader: Reader, tag: number, depth: number, options: ReadOptions): unknown {
  const from = reader.at - 1;
  const own: Extension | undefined = options.extensions.byTag[tag];
  if (own === undefined)
    throw refusal("unknown-tag", `type ${tag} is ${tag < extensionTags.min ? "reserved" : "no extension here"}`, from);
  const inside = enter(reader, depth, options);
  try {
    return own.read(valueReader(reader, () => readValue(reader, inside, options)));
  } catch (thrown) {
    if (thrown instanceof ClearwayError) throw thrown;
    throw refusal("malformed", `the extension of type ${tag} could not be read`, from, thrown);
  }
}

type NullRecord = Record<string, unknown>;

// Reads a map as an object without a prototype where all keys are strings, else as a `Map`. A key's last value counts.
function readRecord(reader: Reader, depth: number, options: ReadOptions): NullRecord | Map<unknown, unknown> {
  const count = reader.count(2);
  // An object made by `Object.create(null)` is a hash table from the start: twice as dear to fill (8 keys: 190 ns against 100).
  const record: NullRecord = Object.setPrototypeOf({}, null);
  for (let index = 0; index < count; index++) {
    if (reader.bytes[reader.at] !== Tag.string)
      return readEntries(reader, depth, options, count - index, new Map(Object.entries(record)));
    reader.at++;
    const key = reader.key();
    if (isIndexLike(key)) {
      // An object would put it before the others. The order is kept until it is known to be an object.
      const map = new Map(Object.entries(record));
      map.set(key, readValue(reader, depth, options));
      return settle(readEntries(reader, depth, options, count - index - 1, map));
    }
    record[key] = readValue(reader, depth, options);
  }
  return record;
}

// Reads entries into a `Map`, in their order.
function readEntries(
  reader: Reader,
  depth: number,
  options: ReadOptions,
  count = reader.count(2),
  map = new Map<unknown, unknown>(),
): Map<unknown, unknown> {
  const guard = guardFor(count);
  for (let index = 0; index < count; index++) {
    const from = reader.at;
    const key = readValue(reader, depth, options);
    const value = readValue(reader, depth, options);
    const { size } = map;
    map.set(key, value);
    if (guard && map.size > size && guard.crowded(key))
      throw refusal("too-large", "a map with too many keys that fall together in the host's tables", from);
  }
  return map;
}

function isIndexLike(key: string): boolean {
  const first = key.charCodeAt(0);
  return first >= 0x30 && first <= 0x39;
}

function settle(map: Map<unknown, unknown>): NullRecord | Map<unknown, unknown> {
  for (const key of map.keys()) if (typeof key !== "string") return map;
  const record: NullRecord = Object.setPrototypeOf({}, null);
  for (const [key, value] of map) record[key as string] = value;
  return record;
}
