// SPDX-License-Identifier: MIT OR Apache-2.0
import { expose } from "clearway/worker";

/** Returns how many primes are below a limit, by trial division, so that it takes its time. */
export function countPrimes(limit: number): number {
  let count = 0;
  for (let n = 2; n < limit; n++) {
    let d = 2;
    while (d * d <= n && n % d !== 0) d++;
    if (d * d > n) count++;
  }
  return count;
}

export default expose({ countPrimes });
