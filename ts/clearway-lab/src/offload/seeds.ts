// SPDX-License-Identifier: MIT OR Apache-2.0
// Returns the seeds of a batch: 0 to n-1, ascending or in one shuffled order that is the same in all languages.

export function seedsInOrder(order: string, count: number): number[] {
  const seeds = Array.from({ length: count }, (_, seed) => seed);
  if (order === "ascending") return seeds;
  if (order !== "shuffled") throw new RangeError(`no such order: order=${order} (ascending, shuffled)`);
  // Fisher-Yates with a fixed rule instead of random numbers, so that runners in other languages produce the same order.
  for (let last = count - 1; last > 0; last--) {
    const other = (last * 7919 + 17) % (last + 1);
    [seeds[last], seeds[other]] = [seeds[other] as number, seeds[last] as number];
  }
  return seeds;
}
