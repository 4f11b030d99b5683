// SPDX-License-Identifier: MIT OR Apache-2.0
// Fills a buffer with native code.
export interface Filler {
  /** Requests new memory in place of the old. Called in the fresh series only, and timed. */
  renew(): void;
  /** Releases the memory that `renew` replaces, if the garbage collector does not. Called in the fresh series only, not timed. */
  release?(): void;
  /** Fills the buffer with `value`. Timed. */
  fill(value: number): void | Promise<void>;
  /** Returns whether every byte of the filled memory is `value`. */
  holds(value: number): boolean;
  close(): void | Promise<void>;
}

export const allAre = (bytes: ArrayLike<number>, value: number): boolean => {
  for (let at = 0; at < bytes.length; at++) if (bytes[at] !== value) return false;
  return true;
};
