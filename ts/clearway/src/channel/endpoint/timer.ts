// SPDX-License-Identifier: MIT OR Apache-2.0

export type Timer = ReturnType<typeof setTimeout>;

/** Starts a timer of any length. Hosts count at most 24.8 days and fire at once for longer times, so longer times are cut to that. */
export function after(ms: number, act: () => void): Timer {
  return setTimeout(act, Math.min(ms, 2 ** 31 - 1));
}
