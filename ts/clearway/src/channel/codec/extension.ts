// SPDX-License-Identifier: MIT OR Apache-2.0
import { invalid } from "../../error/clearway-error.js";
import { extensionTags } from "./tags.js";

/**
 * A type of the application's own on the wire: a type byte from 128 on, and whatever body `write` gives it. Both ends must
 * have it. The body's numbers may be of any width; a float64 is aligned as the codec's own are.
 */
export interface Extension<T = unknown> {
  /** 128 to 255; not used twice in one codec. */
  readonly tag: number;
  /** The class whose instances are written so: exactly this class, not its subclasses. */
  readonly type: abstract new (
    ...args: never[]
  ) => T;
  /** Writes the body. What it throws reaches whoever encodes. */
  write(value: T, writer: ValueWriter): void;
  /** Reads exactly what `write` wrote. What it throws, other than a {@link CodecError}, becomes the cause of a `malformed`. */
  read(reader: ValueReader): T;
}

/** Writes an extension's body. Not to be kept after `write`. */
export interface ValueWriter {
  /** How many bytes the message has so far. */
  readonly offset: number;
  uint8(value: number): void;
  int32(value: number): void;
  uint32(value: number): void;
  int64(value: bigint): void;
  /** Padding to 8 and a float64. */
  float64(value: number): void;
  /** A size or a count, in 1, 3 or 5 bytes. */
  size(value: number): void;
  /** Bytes without a size; copies them. */
  bytes(value: Uint8Array): void;
  /** A text with its size, without a type byte. */
  text(value: string): void;
  /** Zeros up to a multiple of 1, 2, 4 or 8, counted from the message's first byte. */
  pad(alignment: 1 | 2 | 4 | 8): void;
  /** Any value with its type byte; one level deeper. */
  value(value: unknown): void;
}

/** Reads an extension's body. Not to be kept after `read`. Everything throws `truncated` where the message ends too soon. */
export interface ValueReader {
  /** The byte that is read next. */
  readonly offset: number;
  /** Bytes that are left. */
  readonly left: number;
  uint8(): number;
  int32(): number;
  uint32(): number;
  int64(): bigint;
  /** Padding to 8 and a float64. */
  float64(): number;
  /** A size or a count. It is not checked against what is left. */
  size(): number;
  /** As many bytes: a copy, or a view where the message is owned. */
  bytes(count: number): Uint8Array;
  text(): string;
  pad(alignment: 1 | 2 | 4 | 8): void;
  value(): unknown;
}

/** A codec's extensions, ready for writing and for reading. */
export interface Extensions {
  readonly byPrototype: ReadonlyMap<object, Extension>;
  readonly byTag: readonly (Extension | undefined)[];
}

export const noExtensions: Extensions = { byPrototype: new Map(), byTag: [] };

/** Names the type of an extension's parts for `with({ extensions: [...] })`. */
export function extension<T>(parts: Extension<T>): Extension {
  return parts as Extension;
}

/** Checks and adds extensions. Throws `invalid-argument` for a tag or a class that is taken or cannot be. */
export function addExtensions(before: Extensions, added: readonly Extension[]): Extensions {
  const byPrototype = new Map(before.byPrototype);
  const byTag = [...before.byTag];
  for (const each of added) {
    const { tag, type } = each;
    if (!(Number.isInteger(tag) && tag >= extensionTags.min && tag <= extensionTags.max))
      throw invalid("tag", "a whole number from 128 to 255", tag);
    if (byTag[tag] !== undefined) throw invalid("tag", "used once", tag);
    const prototype: unknown = typeof type === "function" ? type.prototype : undefined;
    if (prototype === null || typeof prototype !== "object" || prototype === Object.prototype)
      throw invalid("type", "a class other than Object", String(type));
    if (byPrototype.has(prototype)) throw invalid("type", "used once", type.name);
    byTag[tag] = each;
    byPrototype.set(prototype, each);
  }
  return { byPrototype, byTag };
}
