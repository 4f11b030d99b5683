// SPDX-License-Identifier: MIT OR Apache-2.0

/**
 * Collects the values of one column for one chunk after another.
 *
 * Its arrays are scratch memory that grows by doubling and is reused for the next chunk. It allocates nothing per row.
 */
export interface Builder {
  /** Adds a value. Throws {@link BadValue} and may leave a part of the value; the writer then truncates. */
  push(value: unknown): void;
  /** Adds an empty value for a row that is null. */
  pushEmpty(): void;
  /** Removes every row from `rows` on. */
  truncate(rows: number): void;
  /** Returns the chunk's buffers in the order of `layout.ts`. They are views of the scratch memory, so the caller copies them at once. */
  buffers(): Uint8Array[];
  /** Bytes of its buffers so far, without padding. */
  readonly bytes: number;
}

/** The largest offset: offsets are 32 bits, signed. */
export const offsetMax = 0x7fff_ffff;

/**
 * The growth counter that the columns of one writer share. Each column adds its own bytes of texts, bytes and lists, because a single
 * row can exceed the growth that a fixed number of rows allows for.
 */
export class Growth {
  /** Bytes since the writer last added up its columns. */
  bytes = 0;

  /** `dataBytesMax` limits the data of one column in a chunk. Only tests set it lower. */
  constructor(readonly dataBytesMax = offsetMax) {}
}

/** Initial rows of the scratch memory: one page of 4-byte values. */
export const firstRows = 1024;

/**
 * Copies a typed array into a larger one and drops the old one. The new length is twice the old, but at most `max` and at least
 * `needed`.
 */
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

/** Returns the memory of the first elements of a typed array as bytes. Copies nothing. */
export function bytesOf(values: { buffer: ArrayBufferLike; BYTES_PER_ELEMENT: number }, count: number): Uint8Array {
  return new Uint8Array(values.buffer, 0, count * values.BYTES_PER_ELEMENT);
}
