// SPDX-License-Identifier: MIT OR Apache-2.0
// A small seeded random generator, so that the order of a run can be recorded and repeated. It is not for secrets.

/**
 * Returns a mulberry32 generator of numbers in [0, 1). Its 32 bits of state are enough to shuffle a plan with some hundred entries.
 */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** Shuffles by Fisher-Yates. Returns a new array. */
export function shuffled<T>(items: readonly T[], random: () => number): T[] {
  const result = [...items];
  for (let last = result.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1));
    [result[last], result[other]] = [result[other]!, result[last]!];
  }
  return result;
}
