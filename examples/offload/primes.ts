// SPDX-License-Identifier: MIT OR Apache-2.0
/** Returns how many primes are below `limit`. */
export function countPrimes(limit: number): number {
  const composite = new Uint8Array(limit);
  let count = 0;
  for (let n = 2; n < limit; n++) {
    if (composite[n]) continue;
    count++;
    for (let multiple = n * n; multiple < limit; multiple += n) composite[multiple] = 1;
  }
  return count;
}
