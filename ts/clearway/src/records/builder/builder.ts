// SPDX-License-Identifier: MIT OR Apache-2.0

/**
 * Collects the values of one column for one chunk after another.
 *
 * The builder's arrays are scratch memory. They grow by doubling, and the next chunk reuses them. A push allocates nothing per row.
 */
export interface Builder {
  /** Adds a value. Throws {@link BadValue}, and may then leave a part of the value. The writer truncates that part. */
  push(value: unknown): void;
  /** Adds an empty value for a row that is null. */
  pushEmpty(): void;
  /** Removes every row from `rows` on. */
  truncate(rows: number): void;
  /**
   * Returns the chunk's buffers in the order of `layout.ts`. They are views of the scratch memory, so the caller must copy them at once.
   */
  buffers(): Uint8Array[];
  /** The number of bytes of the builder's buffers so far, without padding. */
  readonly bytes: number;
}

/** The largest offset. Offsets are signed 32-bit numbers. */
export const offsetMax = 0x7fff_ffff;

/**
 * The growth counter that the columns of one writer share. Each column adds its own bytes of texts, bytes and lists. A fixed number of
 * rows could not bound this growth, because a single row can be large.
 */
export class Growth {
  /** The number of bytes since the writer last summed its columns. */
  bytes = 0;

  /** `dataBytesMax` limits the data of one column in a chunk. Only tests set it lower. */
  constructor(readonly dataBytesMax = offsetMax) {}
}

/** The initial number of rows of the scratch memory: one page of 4-byte values. */
export const firstRows = 1024;

/**
 * Copies a typed array into a larger array. The new length is twice the old length, but at most `max` and at least `needed`.
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
