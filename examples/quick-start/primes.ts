// SPDX-License-Identifier: MIT OR Apache-2.0

/** Returns the number of primes below `limit`, by trial division. Blocks its thread until it returns. */
export function countPrimes(limit: number): number {
  let count = 0;
  for (let number = 2; number < limit; number++) {
    let divisor = 2;
    while (divisor * divisor <= number && number % divisor !== 0) divisor++;
    if (divisor * divisor > number) count++;
  }
  return count;
}
