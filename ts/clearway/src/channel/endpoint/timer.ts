// SPDX-License-Identifier: MIT OR Apache-2.0

export type Timer = ReturnType<typeof setTimeout>;

/** A timer of any length. Hosts count 24.8 days at most, and fire at once for more; that long is for ever here. */
export function after(ms: number, act: () => void): Timer {
  return setTimeout(act, Math.min(ms, 2 ** 31 - 1));
}
