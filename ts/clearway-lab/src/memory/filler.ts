// SPDX-License-Identifier: MIT OR Apache-2.0
// A way to have native code fill a buffer.
export interface Filler {
  /** For the fresh series, in the time: asks for memory in place of what there was. */
  renew(): void;
  /** For the fresh series, outside the time: gives back what `renew` will replace, where that is not the collector's. */
  release?(): void;
  /** The time of this is what is measured. */
  fill(value: number): void | Promise<void>;
  /** Whether every byte is `value`, as the one who asked for it sees it. */
  holds(value: number): boolean;
  close(): void | Promise<void>;
}

export const allAre = (bytes: ArrayLike<number>, value: number): boolean => {
  for (let at = 0; at < bytes.length; at++) if (bytes[at] !== value) return false;
  return true;
};
