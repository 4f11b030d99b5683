// SPDX-License-Identifier: MIT OR Apache-2.0
// A way to have native code fill a buffer.
export interface Filler {
  /** For the fresh series, timed: requests new memory in place of the old. */
  renew(): void;
  /** For the fresh series, not timed: releases the memory that `renew` will replace, unless the collector does. */
  release?(): void;
  /** Fills the buffer. This is the measured time. */
  fill(value: number): void | Promise<void>;
  /** Returns whether every byte is `value`, as the side that asked for the fill sees it. */
  holds(value: number): boolean;
  close(): void | Promise<void>;
}

export const allAre = (bytes: ArrayLike<number>, value: number): boolean => {
  for (let at = 0; at < bytes.length; at++) if (bytes[at] !== value) return false;
  return true;
};
