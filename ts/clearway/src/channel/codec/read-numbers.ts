// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Reader } from "./reader.js";
import { Tag } from "./tags.js";

/** A list of numbers of one width. */
export type NumberList = Uint8Array | Int32Array | BigInt64Array | Float32Array | Float64Array;

/** The classes of lists whose elements are wider than a byte, by their tags. */
export const listClasses: Readonly<Record<number, ListClass>> = {
  [Tag.int32List]: Int32Array,
  [Tag.int64List]: BigInt64Array,
  [Tag.float32List]: Float32Array,
  [Tag.float64List]: Float64Array,
};

type ListClass = Int32ArrayConstructor | BigInt64ArrayConstructor | Float32ArrayConstructor | Float64ArrayConstructor;

/** Reads the list that a type byte stands for, or nothing for another type byte. */
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
  // A message that does not begin at a multiple of 8 of its buffer has no views, owned or not.
  if ((bytes.byteOffset + at) % List.BYTES_PER_ELEMENT === 0) {
    const view = new List(bytes.buffer as ArrayBuffer, bytes.byteOffset + at, count);
    return reader.owned ? view : view.slice();
  }
  const copy = new List(count);
  new Uint8Array(copy.buffer).set(bytes.subarray(at, at + size));
  return copy;
}
