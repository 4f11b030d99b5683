// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError } from "../../error/clearway-error.js";
import { bigIntegerDigitsMax, codecError } from "./codec.js";
import { type Extension, type Extensions, valueReader } from "./extension.js";
import { listClasses, type NumberList, type Reader, readNumbers } from "./reader.js";
import { attachmentTag, extensionTags, Float64, Tag } from "./tags.js";

/** Settings for reading a value. */
interface ReadOptions {
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

// Returns the nesting depth inside a list, a map or an extension value. The error has the offset of the type byte, which is
// already read.
function enter(reader: Reader, depth: number, { depthMax }: ReadOptions): number {
  if (depth >= depthMax) throw codecError("too-deep", `values are nested deeper than ${depthMax}`, reader.at - 1);
  return depth + 1;
}

function readFloat(reader: Reader, lossless: boolean): number | Float64 {
  const value = reader.float64();
  // The condition is true for -0 too. A `Map` turns the key -0 into 0, which would be encoded as an integer.
  return lossless && Number.isSafeInteger(value) ? new Float64(value) : value;
}

function readList(reader: Reader, depth: number, options: ReadOptions): unknown[] {
  const inside = enter(reader, depth, options);
  const count = reader.count(1);
  // The list grows with each value. Allocating `count` elements first would be unsafe: in a message of nested lists, each list
  // could announce as many values as bytes remain.
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
    throw codecError("too-large", `a big integer of ${count} hex digits; ${bigIntegerDigitsMax} at most`, from);
  reader.at = from;
  const digits = reader.text();
  if (!hex.test(digits)) throw codecError("malformed", "a big integer is not written in hex digits", from);
  return digits.startsWith("-") ? -BigInt(`0x${digits.slice(1)}`) : BigInt(`0x${digits}`);
}

function readExtension(reader: Reader, tag: number, depth: number, options: ReadOptions): unknown {
  const from = reader.at - 1;
  const own: Extension | undefined = options.extensions.byTag[tag];
  if (own === undefined)
    throw codecError(
      "unknown-tag",
      `type ${tag} is ${tag < extensionTags.min ? "reserved" : "no extension here"}`,
      from,
    );
  const inside = enter(reader, depth, options);
  try {
    return own.read(
      valueReader(reader, () => {
        reader.charge(1, reader.at);
        return readValue(reader, inside, options);
      }),
    );
  } catch (thrown) {
    if (thrown instanceof ClearwayError) throw thrown;
    throw codecError("malformed", `the extension of type ${tag} could not be read`, from, thrown);
  }
}

type NullRecord = Record<string, unknown>;

// Reads a map as an object without a prototype if all keys are strings, else as a `Map`. For a repeated key, the last value counts.
function readRecord(reader: Reader, depth: number, options: ReadOptions): NullRecord | Map<unknown, unknown> {
  const count = reader.count(2);
  // `Object.create(null)` makes an object that V8 keeps as a hash table. Filling it takes twice as long (8 keys: 190 ns, not
  // 100 ns).
  const record: NullRecord = Object.setPrototypeOf({}, null);
  for (let index = 0; index < count; index++) {
    if (reader.bytes[reader.at] !== Tag.string)
      return readEntries(reader, depth, options, count - index, new Map(Object.entries(record)));
    reader.at++;
    const key = reader.key();
    if (isIndexLike(key)) {
      // An object would order such a key before its other keys. If a later key is not a string, the result is a `Map` in the
      // message's order. The entries therefore stay in a `Map` until all keys are read.
      const map = new Map(Object.entries(record));
      map.set(key, readValue(reader, depth, options));
      return settle(readEntries(reader, depth, options, count - index - 1, map));
    }
    record[key] = readValue(reader, depth, options);
  }
  return record;
}

// Reads entries into a `Map`, in the message's order.
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
    if (guard && map.size > size && guard.countKey(key))
      throw codecError("too-large", "a map with too many keys that fall together in the host's tables", from);
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

/** Reads a reference to an attachment. The list is a view of the attachment's memory, or of an aligned copy. */
function readAttached(reader: Reader, attached: readonly Uint8Array[]): NumberList {
  const from = reader.at;
  const tag = reader.byte();
  const index = reader.size();
  const bytes = attached[index];
  reader.attachedLeft -= bytes?.length ?? 0;
  if (reader.attachedLeft < 0)
    throw codecError("too-large", "attachments that are named too often to be put back", from);
  if (bytes === undefined) throw codecError("malformed", `no attachment ${index} of ${attached.length}`, from);
  if (tag === Tag.uint8List) return bytes;
  const List = listClasses[tag];
  if (List === undefined) throw codecError("malformed", `an attachment is no list of type ${tag}`, from);
  const { buffer, byteLength, byteOffset } = bytes;
  const size = List.BYTES_PER_ELEMENT;
  if (byteLength % size !== 0) throw codecError("malformed", `${byteLength} bytes are no elements of ${size}`, from);
  if (byteOffset % size === 0) return new List(buffer as ArrayBuffer, byteOffset, byteLength / size);
  // All references to one attachment share one copy.
  reader.aligned[index] ??= new Uint8Array(bytes);
  return new List(reader.aligned[index].buffer as ArrayBuffer);
}

// V8 hashes numbers and big integers in a Map without a seed, and only the lowest 64 bits of a big integer. A peer can therefore choose
// keys that all collide: inserting 40,000 such keys (240 KB) took 5 s (int32) and 14 s (big integers) in Node 20, instead of 13 ms.
// Texts are hashed with a seed, and a peer cannot choose the hash of an object. The guard counts keys by V8's hash functions. In
// another engine the guard protects nothing, and refuses only maps that were crafted against V8.

// Up to this number of keys, collisions cost little: 256 colliding keys take 0.4 ms.
const keysMin = 256;
// Maximum number of keys in one bucket. On average a bucket has one key. With 8 million random keys, no bucket had more than
// 12.
const togetherMax = 64;

const float = new Float64Array(1);
const bits = new BigUint64Array(float.buffer);

/** Returns a guard for a map that announces `count` entries. Returns undefined if `count` is small. */
function guardFor(count: number): KeyGuard | undefined {
  return count > keysMin ? new KeyGuard(count) : undefined;
}

/** Detects a map whose keys were chosen to collide in V8's hash tables. */
export class KeyGuard {
  #keys = 0;
  #counts: Uint8Array | undefined;
  /** Number of entries that the map announces. The reader has checked it against the remaining bytes. */
  readonly #count: number;

  constructor(count: number) {
    this.#count = count;
  }

  /** Counts a new key. Returns true if too many keys collide. */
  countKey(key: unknown): boolean {
    if ((typeof key !== "number" && typeof key !== "bigint") || ++this.#keys <= keysMin) return false;
    this.#counts ??= new Uint8Array(2 ** Math.min(Math.ceil(Math.log2(this.#count)), 20));
    const counts = this.#counts;
    const at = hashOf(key) & (counts.length - 1);
    const most = togetherMax + (this.#count / counts.length) * 4;
    return ++counts[at]! > Math.min(most, 255);
  }
}

function hashOf(key: number | bigint): number {
  if (typeof key === "bigint") return longHash(BigInt.asUintN(64, key < 0n ? -key : key));
  if (key === (key | 0)) return intHash(key);
  float[0] = key;
  return longHash(bits[0]!);
}

function intHash(key: number): number {
  let hash = (~key + (key << 15)) | 0;
  hash ^= hash >>> 12;
  hash = (hash + (hash << 2)) | 0;
  hash ^= hash >>> 4;
  hash = Math.imul(hash, 2057);
  return hash ^ (hash >>> 16);
}

function longHash(key: bigint): number {
  let hash = BigInt.asUintN(64, ~key + (key << 18n));
  hash ^= hash >> 31n;
  hash = BigInt.asUintN(64, hash * 21n);
  hash ^= hash >> 11n;
  hash = BigInt.asUintN(64, hash + (hash << 6n));
  hash ^= hash >> 22n;
  return Number(BigInt.asUintN(30, hash));
}
