// SPDX-License-Identifier: MIT OR Apache-2.0

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
