// SPDX-License-Identifier: MIT OR Apache-2.0
export interface Range {
  from: number;
  to: number;
}

/** How often this module counted in this thread. */
export let loads = 0;

export function count({ from, to }: Range): number {
  loads++;
  let found = 0;
  for (let n = from; n < to; n++) {
    let prime = n > 1;
    for (let divisor = 2; divisor * divisor <= n; divisor++) prime &&= n % divisor !== 0;
    if (prime) found++;
  }
  return found;
}
