// SPDX-License-Identifier: MIT OR Apache-2.0
// Compares results of two ways. A result that has crossed to another thread has lost its classes, so both results are cloned first.
import { isDeepStrictEqual } from "node:util";

export type Snapshot = { value: unknown } | undefined;

/** Returns a copy of a value. Returns undefined if the value cannot be cloned: it contains a function, or memory that was moved away. */
export function snapshotOf(value: unknown): Snapshot {
  try {
    return { value: structuredClone(value) };
  } catch {
    return undefined;
  }
}

/** Returns whether two results are the same for an app. Compares values that cannot be cloned as they are. */
export function isSame(a: unknown, b: unknown): boolean {
  const [one, other] = [snapshotOf(a), snapshotOf(b)];
  return one === undefined || other === undefined ? isDeepStrictEqual(a, b) : isDeepStrictEqual(one.value, other.value);
}
