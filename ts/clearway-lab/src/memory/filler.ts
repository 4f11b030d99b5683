// SPDX-License-Identifier: MIT OR Apache-2.0
// Fills a buffer with native code.
export interface Filler {
  /** Requests new memory in place of the old. Called only in the fresh series, and timed. */
  renew(): void;
  /** Releases the memory that `renew` replaces, if the garbage collector does not. Called only in the fresh series, not timed. */
  release?(): void;
  /** Fills the buffer with `value`. This call is timed. */
  fill(value: number): void | Promise<void>;
  /** Returns whether every byte of the filled memory is `value`. */
  holds(value: number): boolean;
  close(): void | Promise<void>;
}

export const allBytesAre = (bytes: ArrayLike<number>, value: number): boolean => {
  for (let at = 0; at < bytes.length; at++) if (bytes[at] !== value) return false;
  return true;
};
