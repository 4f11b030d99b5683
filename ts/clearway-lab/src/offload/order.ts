// SPDX-License-Identifier: MIT OR Apache-2.0
// Returns a batch's seeds: 0 to n-1 in ascending order, or in one shuffled order for all languages.

export function seedsIn(order: string, count: number): number[] {
  const seeds = Array.from({ length: count }, (_, seed) => seed);
  if (order === "ascending") return seeds;
  if (order !== "shuffled") throw new RangeError(`no such order: order=${order} (ascending, shuffled)`);
  // Fisher-Yates with a fixed rule instead of random numbers, so that a runner in another language has the same order.
  for (let last = count - 1; last > 0; last--) {
    const other = (last * 7919 + 17) % (last + 1);
    [seeds[last], seeds[other]] = [seeds[other] as number, seeds[last] as number];
  }
  return seeds;
}
