// SPDX-License-Identifier: MIT OR Apache-2.0
import { type CodecLimits, codecError, type Input, outOfBand } from "./codec.js";
import { sizes, Tag } from "./tags.js";
import { keyText, readUtf8 } from "./text.js";

/** Reads the primitives of a message, never beyond its end. The functions in `read-value.ts` read whole values. */
export class Reader {
  at = 0;
  readonly bytes: Uint8Array;
  readonly end: number;
  /** Whether lists may be views of the message. */
  readonly viewsAllowed: boolean;
  /** Lists that the transport sent next to the message. */
  readonly attached: readonly Uint8Array[] | undefined;
  /**
   * Aligned copies of attachments, by number. An attachment needs a copy if its offset is not a multiple of the element's size.
   */
  readonly aligned: Uint8Array[] = [];
  /**
   * Number of attachment bytes that the message may still reference. An attachment counts again for each reference. Only
   * `inlined` sets a limit, because it copies an attachment once for each reference.
   */
  attachedLeft = Number.POSITIVE_INFINITY;
  /** Number of values that the lists, maps and extension values of the message may still have. */
  #itemsLeft: number;
  readonly #itemsMax: number;
  #view: DataView | undefined;

  constructor({ bytes, viewsAllowed }: Input, { itemsMax }: CodecLimits) {
    this.bytes = bytes;
    this.end = bytes.length;
    this.viewsAllowed = viewsAllowed;
    this.attached = outOfBand.attached;
    outOfBand.attached = undefined;
    const { valuesMax } = outOfBand;
    outOfBand.valuesMax = undefined;
    // `Math.min` would return a float64, and V8 would then allocate memory each time that a list is counted.
    this.#itemsMax = valuesMax !== undefined && valuesMax < itemsMax ? valuesMax : itemsMax;
    this.#itemsLeft = this.#itemsMax;
  }

  get view(): DataView {
    this.#view ??= new DataView(this.bytes.buffer, this.bytes.byteOffset, this.bytes.byteLength);
    return this.#view;
  }

  /** Throws `truncated`, with the offset `from`, unless `count` bytes remain. */
  need(count: number, from: number): void {
    if (count > this.end - this.at)
      throw codecError("truncated", `${count} bytes are needed and ${Math.max(this.end - this.at, 0)} are left`, from);
  }

  byte(): number {
    this.need(1, this.at);
    return this.bytes[this.at++]!;
  }

  int32(): number {
    this.need(4, this.at);
    const { bytes, at } = this;
    this.at = at + 4;
    return bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
  }

  int64(): bigint {
    this.need(8, this.at);
    this.at += 8;
    return this.view.getBigInt64(this.at - 8, true);
  }

  /** Reads an int64. Returns a number if that is exact, else a bigint. */
  integer(): number | bigint {
    this.need(8, this.at);
    const low = this.int32() >>> 0;
    const value = this.int32() * 0x1_0000_0000 + low;
    return Number.isSafeInteger(value) ? value : this.view.getBigInt64(this.at - 8, true);
  }

  /** Skips the padding and reads a float64. If bytes are missing, the error has the offset `from`. */
  float64(from = this.at): number {
    this.pad(8, from);
    this.need(8, from);
    this.at += 8;
    return this.view.getFloat64(this.at - 8, true);
  }

  /**
   * Skips padding up to a multiple of `alignment`, counted from the message's first byte. Does not check that the padding is
   * zero.
   */
  pad(alignment: number, from = this.at): void {
    const over = this.at % alignment;
    if (over === 0) return;
    this.need(alignment - over, from);
    this.at += alignment - over;
  }

  /** Reads a size or a count. Does not compare the number with the remaining bytes. */
  size(): number {
    const from = this.at;
    const first = this.byte();
    if (first <= sizes.oneMax) return first;
    if (first === sizes.two) {
      this.need(2, from);
      this.at += 2;
      return this.bytes[this.at - 2]! | (this.bytes[this.at - 1]! << 8);
    }
    this.need(4, from);
    return this.int32() >>> 0;
  }

  /**
   * Reads a count of items that take at least `bytesEach` bytes each. Checks the count against the remaining bytes and against
   * `itemsMax` or the endpoint's `valuesMax`, whichever is smaller.
   */
  count(bytesEach: number): number {
    const from = this.at;
    const count = this.size();
    this.need(count * bytesEach, from);
    this.charge(count * bytesEach, from);
    return count;
  }

  /** Counts values of the message. Throws `too-large`, with the offset `from`, if they are too many. */
  charge(values: number, from: number): void {
    this.#itemsLeft -= values;
    if (this.#itemsLeft < 0) throw codecError("too-large", `more than ${this.#itemsMax} values`, from);
  }

  text(): string {
    const from = this.at;
    const size = this.size();
    this.need(size, from);
    this.at += size;
    return readUtf8(this.bytes, this.at - size, this.at);
  }

  /** Reads a text that is likely to repeat, such as a map's key. */
  key(): string {
    const from = this.at;
    const size = this.size();
    this.need(size, from);
    this.at += size;
    return keyText(this.bytes, this.at - size, this.at);
  }

  /** Reads `count` bytes. Returns a view if `viewsAllowed` is true, else a copy. */
  raw(count: number): Uint8Array {
    this.need(count, this.at);
    const start = this.at;
    this.at += count;
    return this.viewsAllowed ? this.bytes.subarray(start, this.at) : this.bytes.slice(start, this.at);
  }

  /** Throws `trailing-bytes` unless the whole message was read. */
  finish(): void {
    if (this.at < this.end)
      throw codecError("trailing-bytes", `${this.end - this.at} bytes follow after the value`, this.at);
  }
}

/** A list of numbers that all have the same type. */
export type NumberList = Uint8Array | Int32Array | BigInt64Array | Float32Array | Float64Array;

/** Classes of the lists whose elements are wider than a byte, by tag. */
export const listClasses: Readonly<Record<number, ListClass>> = {
  [Tag.int32List]: Int32Array,
  [Tag.int64List]: BigInt64Array,
  [Tag.float32List]: Float32Array,
  [Tag.float64List]: Float64Array,
};

type ListClass = Int32ArrayConstructor | BigInt64ArrayConstructor | Float32ArrayConstructor | Float64ArrayConstructor;

/** Reads a list of numbers. Returns undefined if `tag` is not the tag of such a list. */
export function readNumbers(reader: Reader, tag: number): NumberList | undefined {
  switch (tag) {
    case Tag.uint8List: {
      const from = reader.at;
      const count = reader.size();
      reader.need(count, from);
      return reader.raw(count);
    }
    case Tag.int32List:
      return read(reader, Int32Array);
    case Tag.int64List:
      return read(reader, BigInt64Array);
    case Tag.float32List:
      return read(reader, Float32Array);
    case Tag.float64List:
      return read(reader, Float64Array);
    default:
      return undefined;
  }
}

function read(reader: Reader, List: ListClass): NumberList {
  const from = reader.at;
  const count = reader.size();
  reader.pad(List.BYTES_PER_ELEMENT, from);
  const size = count * List.BYTES_PER_ELEMENT;
  reader.need(size, from);
  const { at, bytes } = reader;
  reader.at = at + size;
  // A typed array's offset in its buffer must be a multiple of the element's size. Other elements are copied.
  if ((bytes.byteOffset + at) % List.BYTES_PER_ELEMENT === 0) {
    const view = new List(bytes.buffer as ArrayBuffer, bytes.byteOffset + at, count);
    return reader.viewsAllowed ? view : view.slice();
  }
  const copy = new List(count);
  new Uint8Array(copy.buffer).set(bytes.subarray(at, at + size));
  return copy;
}
