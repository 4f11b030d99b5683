// SPDX-License-Identifier: MIT OR Apache-2.0

/** How many prime numbers are below `limit`, by trial division. It holds its thread until it returns. */
export function countPrimes(limit: number): number {
  let count = 0;
  for (let number = 2; number < limit; number++) {
    let divisor = 2;
    while (divisor * divisor <= number && number % divisor !== 0) divisor++;
    if (divisor * divisor > number) count++;
  }
  return count;
}
