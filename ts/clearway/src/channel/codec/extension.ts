// SPDX-License-Identifier: MIT OR Apache-2.0
import { callable, object } from "../../error/checked.js";
import { invalid } from "../../error/clearway-error.js";
import type { Reader } from "./reader.js";
import { extensionTags } from "./tags.js";
import type { Writer } from "./writer.js";

/**
 * An application's own type on the wire. A value is a type byte of 128 or more, followed by the bytes that `write` writes. Both
 * ends must register the extension. Float64 values in the body are aligned to 8 bytes, like those of the codec itself.
 */
export interface Extension<T = unknown> {
  /** The type byte: 128 to 255, unique in one codec. */
  readonly tag: number;
  /** The class whose instances this extension encodes. It does not encode instances of subclasses. */
  readonly type: abstract new (
    ...args: never[]
  ) => T;
  /** Writes the body. Errors that this method throws reach the caller of `encode`. */
  write(value: T, writer: ValueWriter): void;
  /**
   * Reads exactly the bytes that `write` wrote. A `ClearwayError` reaches the caller of `decode`. Any other error becomes the
   * cause of a `malformed` error.
   */
  read(reader: ValueReader): T;
}

/** Writes an extension's body. Do not use it after `write` has returned. */
export interface ValueWriter {
  /** Number of bytes of the message so far. */
  readonly offset: number;
  /** Writes one byte. Like the other methods, it throws `invalid-argument` for a value out of range. */
  uint8(value: number): void;
  /** Writes a signed integer in 4 bytes, little-endian. */
  int32(value: number): void;
  /** Writes an unsigned integer in 4 bytes, little-endian. */
  uint32(value: number): void;
  /** Writes a signed integer in 8 bytes, little-endian. */
  int64(value: bigint): void;
  /** Writes padding up to a multiple of 8, then a float64. */
  float64(value: number): void;
  /** Writes a size or a count in 1, 3 or 5 bytes. */
  size(value: number): void;
  /** Copies the bytes, without a size in front. */
  bytes(value: Uint8Array): void;
  /** Writes the text's size in bytes, then the text in UTF-8, without a type byte. */
  text(value: string): void;
  /** Writes zeros until the offset in the message is a multiple of `alignment`. */
  pad(alignment: 1 | 2 | 4 | 8): void;
  /** Writes any value with its type byte. The value is one nesting level deeper than the extension. */
  value(value: unknown): void;
}

/**
 * Reads an extension's body. Do not use it after `read` has returned. Every method throws `truncated` if the message ends too
 * early.
 */
export interface ValueReader {
  /** Offset of the next byte in the message. */
  readonly offset: number;
  /** Number of bytes that remain in the message. */
  readonly left: number;
  /** Reads one byte. */
  uint8(): number;
  /** Reads a signed integer of 4 bytes, little-endian. */
  int32(): number;
  /** Reads an unsigned integer of 4 bytes, little-endian. */
  uint32(): number;
  /** Reads a signed integer of 8 bytes, little-endian. */
  int64(): bigint;
  /** Skips padding up to a multiple of 8, then reads a float64. */
  float64(): number;
  /** Reads a size or a count. Does not compare the number with the remaining bytes. */
  size(): number;
  /** Reads `count` bytes. Returns a view if the message is owned, else a copy. */
  bytes(count: number): Uint8Array;
  /** Reads a size in bytes, then a text of that size. Throws `bad-utf8` if the text is not UTF-8. */
  text(): string;
  /** Skips bytes until the offset in the message is a multiple of `alignment`. */
  pad(alignment: 1 | 2 | 4 | 8): void;
  /** Reads any value with its type byte. The value is one nesting level deeper than the extension. */
  value(): unknown;
}

/** A codec's extensions. Encoding finds an extension by prototype, decoding by type byte. */
export interface Extensions {
  readonly byPrototype: ReadonlyMap<object, Extension>;
  readonly byTag: readonly (Extension | undefined)[];
}

export const noExtensions: Extensions = { byPrototype: new Map(), byTag: [] };

/** Returns its argument, typed for `with({ extensions: [...] })`. */
export function extension<T>(parts: Extension<T>): Extension {
  return parts as Extension;
}

/** Returns `before` with extensions added. Throws `invalid-argument` for a tag or a class that is invalid or already used, or without functions. */
export function addExtensions(before: Extensions, added: readonly Extension[]): Extensions {
  const byPrototype = new Map(before.byPrototype);
  const byTag = [...before.byTag];
  for (const each of added) {
    const { tag, type } = object("extension", each);
    if (!(Number.isInteger(tag) && tag >= extensionTags.min && tag <= extensionTags.max))
      throw invalid("tag", "a whole number from 128 to 255", tag);
    if (byTag[tag] !== undefined) throw invalid("tag", "used once", tag);
    const prototype: unknown = typeof type === "function" ? type.prototype : undefined;
    if (
      prototype === null ||
      typeof prototype !== "object" ||
      prototype === Object.prototype ||
      prototype === Array.prototype
    )
      throw invalid("type", "a class other than Object and Array", String(type));
    if (byPrototype.has(prototype)) throw invalid("type", "used once", type.name);
    for (const name of ["write", "read"] as const) callable(`${name} of the extension with tag ${tag}`, each[name]);
    byTag[tag] = each;
    byPrototype.set(prototype, each);
  }
  return { byPrototype, byTag };
}

/** Wraps a `Writer` for an application's `write`. The wrapper checks the arguments. */
export function valueWriter(writer: Writer, value: (value: unknown) => void): ValueWriter {
  return {
    get offset() {
      return writer.offset;
    },
    uint8: (byte) => writer.byte(whole(byte, 0, 0xff)),
    int32: (number) => writer.int32(whole(number, -0x8000_0000, 0x7fff_ffff)),
    uint32: (number) => writer.uint32(whole(number, 0, 0xffff_ffff)),
    int64(number) {
      if (typeof number !== "bigint" || BigInt.asIntN(64, number) !== number)
        throw invalid("value", "a bigint of 64 bits", number);
      writer.int64(number);
    },
    float64(number) {
      if (typeof number !== "number") throw invalid("value", "a number", number);
      writer.float64(number);
    },
    size: (count) => writer.size(whole(count, 0, 0xffff_ffff)),
    bytes(bytes) {
      if (!(bytes instanceof Uint8Array)) throw invalid("value", "a Uint8Array", bytes);
      writer.raw(bytes);
    },
    text(text) {
      if (typeof text !== "string") throw invalid("value", "a string", text);
      writer.text(text);
    },
    pad: (alignment) => writer.pad(checkAlignment(alignment)),
    value,
  };
}

/** Throws `invalid-argument` unless the alignment is 1, 2, 4 or 8. */
function checkAlignment(alignment: number): number {
  if (![1, 2, 4, 8].includes(alignment)) throw invalid("alignment", "1, 2, 4 or 8", alignment);
  return alignment;
}

function whole(value: number, min: number, max: number): number {
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw invalid("value", `a whole number from ${min} to ${max}`, value);
}

/** Wraps a `Reader` for an application's `read`. The wrapper checks the arguments. */
export function valueReader(reader: Reader, value: () => unknown): ValueReader {
  return {
    get offset() {
      return reader.at;
    },
    get left() {
      return reader.end - reader.at;
    },
    uint8: () => reader.byte(),
    int32: () => reader.int32(),
    uint32: () => reader.int32() >>> 0,
    int64: () => reader.int64(),
    float64: () => reader.float64(),
    size: () => reader.size(),
    bytes(count) {
      if (!(Number.isInteger(count) && count >= 0)) throw invalid("count", "a whole number of 0 or more", count);
      return reader.raw(count);
    },
    text: () => reader.text(),
    pad: (alignment) => reader.pad(checkAlignment(alignment)),
    value,
  };
}
