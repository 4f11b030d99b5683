// SPDX-License-Identifier: MIT OR Apache-2.0

/** Works for about `ms` and returns how long it really was, by the clock that the meter reads too. */
export function busy(ms: number): { startMs: number; lengthMs: number } {
  const startMs = performance.now();
  while (performance.now() - startMs < ms);
  return { startMs, lengthMs: performance.now() - startMs };
}

/** A pause for the loop, of a length that does not fall into step with any heartbeat. */
export const pause = (index: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, 13 + ((index * 7) % 11)));
