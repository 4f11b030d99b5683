// SPDX-License-Identifier: MIT OR Apache-2.0

/** Blocks the thread for about `ms`. Returns the real start and length, by the meter's clock. */
export function busy(ms: number): { startMs: number; lengthMs: number } {
  const startMs = performance.now();
  while (performance.now() - startMs < ms);
  return { startMs, lengthMs: performance.now() - startMs };
}

/** Waits for a time that does not fall into step with any heartbeat. */
export const pause = (index: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, 13 + ((index * 7) % 11)));
