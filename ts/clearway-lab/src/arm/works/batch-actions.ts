// SPDX-License-Identifier: MIT OR Apache-2.0
// The actions of a batch. Each takes a seed and returns a number; the sum of the numbers checks the batch. The JVM's arms have the same actions.

const neverNotified = new Int32Array(new SharedArrayBuffer(4));

export const actions = {
  /** Passes a list of `seed` items through common collection methods. Returns the number of remaining items. */
  lists(seed: number): number {
    const floats = Array.from({ length: seed }, (_, at) => at).map((item) => item * 1.0);
    const byName = new Map(floats.map((item) => item + 0.3).map((item) => [String(item), item]));
    return [...byName.values()].map((item) => item * item).filter((item) => item > 5).length;
  },
  /** Blocks the thread for 0.5 ms and 0.01 ms for each unit of the seed, as a file read or a query of a blocking driver does. */
  storage(seed: number): number {
    Atomics.wait(neverNotified, 0, 0, 0.5 + seed / 100);
    return seed;
  },
};

export type ActionName = keyof typeof actions;

/** Returns the seeds of a batch, 0 to 99, in one shuffled order that is the same in all languages. */
export function shuffledSeeds(): number[] {
  const seeds = Array.from({ length: 100 }, (_, seed) => seed);
  // Fisher-Yates with a fixed rule instead of random numbers.
  for (let last = seeds.length - 1; last > 0; last--) {
    const other = (last * 7919 + 17) % (last + 1);
    [seeds[last], seeds[other]] = [seeds[other] as number, seeds[last] as number];
  }
  return seeds;
}
