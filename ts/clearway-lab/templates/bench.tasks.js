// SPDX-License-Identifier: MIT OR Apache-2.0
// The work that bench.js measures. A worker loads this file and calls the functions by their names.
import { expose } from "clearway/worker";

export default expose({
  /** Counts the primes below a limit. */
  countPrimes(limit) {
    const isComposite = new Uint8Array(limit);
    let count = 0;
    for (let number = 2; number < limit; number++) {
      if (isComposite[number] === 1) continue;
      count++;
      for (let multiple = number * number; multiple < limit; multiple += number) isComposite[multiple] = 1;
    }
    return count;
  },
});
