// SPDX-License-Identifier: MIT OR Apache-2.0

import { clearTimeout, OwnPromise, setTimeout, type Timer } from "../globals.js";

/**
 * Starts a timer of any length, in milliseconds. Hosts support at most 24.8 days and fire at once for a longer time. A longer time is
 * therefore shortened to that maximum.
 */
export function after(ms: number, act: () => void): Timer {
  return setTimeout(act, Math.min(ms, 2 ** 31 - 1));
}

/** Returns whether `promise` settles within `limitMs` milliseconds. Never rejects. Clears its timer. */
export function within(promise: Promise<unknown>, limitMs: number): Promise<boolean> {
  return new OwnPromise((resolve) => {
    const settle = (inTime: boolean): void => {
      clearTimeout(timer);
      resolve(inTime);
    };
    const timer = after(limitMs, () => settle(false));
    promise.then(
      () => settle(true),
      () => settle(false),
    );
  });
}
