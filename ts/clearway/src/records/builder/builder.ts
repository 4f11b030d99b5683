// SPDX-License-Identifier: MIT OR Apache-2.0

/**
 * Takes the values of one column for one chunk after the other. Its arrays are scratch that grows by doubling and is used
 * again for the next chunk; nothing is allocated a row.
 */
export interface Builder {
  /** Takes a value. Throws {@link BadValue} and may leave a part of it: the writer truncates. */
  push(value: unknown): void;
  /** Takes a place for a row that is null. */
  pushEmpty(): void;
  /** Forgets everything from row `rows` on. */
  truncate(rows: number): void;
  /** What the chunk holds, in the order of `layout.ts`: views of the scratch, to be copied at once. */
  buffers(): Uint8Array[];
  /** Bytes of its buffers so far, without padding. */
  readonly bytes: number;
}

/** The largest offset: offsets are 32 bits, signed. */
export const offsetMax = 0x7fff_ffff;

/**
 * What the columns of one writer share. Each adds its own bytes of texts, bytes and lists, because a single row can be
 * larger than any interval of rows allows for.
 */
export class Growth {
  /** Since the writer last added up its columns. */
  bytes = 0;

  /** `dataBytesMax` is how long the data of one column may become in a chunk; smaller in tests only. */
  constructor(readonly dataBytesMax = offsetMax) {}
}

/** How many rows scratch begins with: a page of 4-byte values. */
export const firstRows = 1024;

/** A larger copy of a typed array, at least `needed` long, and no longer than `max` otherwise. The old one is garbage. */
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

/** The memory of the first elements of a typed array, as bytes. */
export function bytesOf(values: { buffer: ArrayBufferLike; BYTES_PER_ELEMENT: number }, count: number): Uint8Array {
  return new Uint8Array(values.buffer, 0, count * values.BYTES_PER_ELEMENT);
}
