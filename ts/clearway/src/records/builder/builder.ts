// SPDX-License-Identifier: MIT OR Apache-2.0
import { BadValue } from "../refusal.js";

/**
 * Collects the values of one column, for one chunk after another.
 *
 * A builder's arrays are scratch memory. The arrays grow by doubling, and the next chunk reuses them. Most pushes therefore allocate
 * nothing.
 */
export interface Builder {
  /** Adds a value. Throws {@link BadValue}. A part of the value may then remain until the caller truncates it. */
  push(value: unknown): void;
  /** Adds an empty value, for a row that is null. */
  pushEmpty(): void;
  /** Removes all rows from row `rows` on. */
  truncate(rows: number): void;
  /** Returns the chunk's buffers in the order of `layout.ts`. They are views of scratch memory, so the caller must copy them at once. */
  buffers(): Uint8Array[];
  /** The total size of the chunk's buffers so far, in bytes, without padding. */
  readonly bytes: number;
}

/** The largest possible offset. Offsets are signed 32-bit numbers. */
export const offsetMax = 0x7fff_ffff;

/**
 * A counter of bytes that all columns of one writer share. Each column adds the bytes of its texts, bytes and lists. The counter tells the
 * writer when to compute the chunk's size. Counting rows would not be enough, because a single row can be large.
 */
export class Growth {
  /** The number of bytes that were added since the writer last computed the chunk's size. */
  bytes = 0;

  /** `dataBytesMax` is the maximum size of one column's data in a chunk. Only tests set a lower one. */
  constructor(readonly dataBytesMax = offsetMax) {}
}

/** The initial number of rows for which scratch memory has room. With values of 4 bytes, that is one page. */
export const firstRows = 1024;

/** Copies a typed array into a longer one. The new length is twice the old length, but at most `max` and at least `needed`. */
export function grown<T extends { readonly length: number; set(from: T): void }>(
  Type: new (length: number) => T,
  from: T,
  needed: number,
  max = Number.POSITIVE_INFINITY,
): T {
  const to = new Type(Math.max(needed, Math.min(from.length * 2, max)));
  to.set(from);
  return to;
}

export const noBytes = new Uint8Array(0);

/** Returns the first `count` elements of a typed array as bytes. Copies nothing. */
export function bytesOf(values: { buffer: ArrayBufferLike; BYTES_PER_ELEMENT: number }, count: number): Uint8Array {
  return new Uint8Array(values.buffer, 0, count * values.BYTES_PER_ELEMENT);
}

/** A growing sequence of bits, least significant bit of a byte first. */
class Bits {
  #bytes: Uint8Array = new Uint8Array(firstRows / 8);
  length = 0;

  push(bit: boolean): void {
    const at = this.length++;
    const byte = at >> 3;
    if (byte === this.#bytes.length) this.#bytes = grown(Uint8Array, this.#bytes, byte + 1);
    // The first bit of a byte clears the byte, because the byte may contain bits of an earlier chunk.
    const before = (at & 7) === 0 ? 0 : this.#bytes[byte]!;
    this.#bytes[byte] = bit ? before | (1 << (at & 7)) : before;
  }

  truncate(length: number): void {
    if (length >= this.length) return;
    this.length = length;
    this.#bytes[length >> 3]! &= (1 << (length & 7)) - 1;
  }

  bytes(): Uint8Array {
    return this.#bytes.subarray(0, (this.length + 7) >> 3);
  }
}

export class BitBuilder implements Builder {
  readonly #bits = new Bits();

  constructor(readonly column: string) {}

  get length(): number {
    return this.#bits.length;
  }

  get bytes(): number {
    return this.#bits.length / 8;
  }

  push(value: unknown): void {
    if (typeof value !== "boolean") throw new BadValue(this.column, "true or false", value);
    this.#bits.push(value);
  }

  pushEmpty(): void {
    this.#bits.push(false);
  }

  truncate(rows: number): void {
    this.#bits.truncate(rows);
  }

  buffers(): Uint8Array[] {
    return [noBytes, this.#bits.bytes()];
  }
}

/** Wraps a builder for rows that may be null. Creates a class for each column, so that each class calls only one class of builder. */
export function nullableBuilder(inner: Builder): Builder {
  class NullableBuilder implements Builder {
    readonly #inner: Builder;
    readonly #valid = new Bits();
    #nulls = 0;

    constructor(values: Builder) {
      this.#inner = values;
    }

    get bytes(): number {
      return this.#inner.bytes + this.#valid.length / 8;
    }

    push(value: unknown): void {
      if (value === null || value === undefined) {
        this.pushEmpty();
        return;
      }
      this.#inner.push(value);
      this.#valid.push(true);
    }

    pushEmpty(): void {
      this.#inner.pushEmpty();
      this.#valid.push(false);
      this.#nulls++;
    }

    // After truncating a null, the null count may be too high. The chunk then has an unnecessary bitmap.
    truncate(rows: number): void {
      this.#inner.truncate(rows);
      this.#valid.truncate(rows);
      if (rows === 0) this.#nulls = 0;
    }

    buffers(): Uint8Array[] {
      const [, ...rest] = this.#inner.buffers();
      return [this.#nulls === 0 ? noBytes : this.#valid.bytes(), ...rest];
    }
  }
  return new NullableBuilder(inner);
}
