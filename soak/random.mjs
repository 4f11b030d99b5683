// SPDX-License-Identifier: MIT OR Apache-2.0
import { uniformFloat64 } from "pure-rand/distribution/uniformFloat64";
import { mersenne } from "pure-rand/generator/mersenne";

/** Returns a function that gives numbers from 0 to below 1. A seed repeats them. */
export function randomOf(seed) {
  const generator = mersenne(seed);
  return () => uniformFloat64(generator);
}

/** Returns a function that chooses from `weighted`, a list of `{ weight }`. */
export function chooser(weighted, random) {
  const total = weighted.reduce((sum, { weight }) => sum + weight, 0);
  return () => {
    let left = random() * total;
    for (const each of weighted) {
      left -= each.weight;
      if (left < 0) return each;
    }
    return weighted[weighted.length - 1];
  };
}
