// SPDX-License-Identifier: MIT OR Apache-2.0

/** Works for about `ms` and returns how long it really was, by the clock that the meter reads too. */
export function busy(ms: number): { startMs: number; lengthMs: number } {
  const startMs = performance.now();
  while (performance.now() - startMs < ms);
  return { startMs, lengthMs: performance.now() - startMs };
}

/** The meter's promise: 1 ms or 5 %, whichever is more. */
export const toleranceMs = (lengthMs: number): number => Math.max(1, lengthMs * 0.05);

/** What the meter must show at least of a stall of this length. */
export const atLeastMs = (lengthMs: number): number => lengthMs - toleranceMs(lengthMs);

/** A pause for the loop, of a length that does not fall into step with any heartbeat. */
export const pause = (index: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, 13 + ((index * 7) % 11)));

/** The stall that began nearest to a moment, if that is near at all: pauses between the known stalls are longer. */
export function nearest<Stall extends { startMs: number }>(stalls: readonly Stall[], atMs: number): Stall | undefined {
  const sorted = [...stalls].sort((a, b) => Math.abs(a.startMs - atMs) - Math.abs(b.startMs - atMs));
  return sorted[0] && Math.abs(sorted[0].startMs - atMs) <= 12 ? sorted[0] : undefined;
}
