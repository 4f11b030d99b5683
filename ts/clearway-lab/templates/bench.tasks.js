// SPDX-License-Identifier: MIT OR Apache-2.0
// The work that bench.js measures. A worker loads this file and calls the functions by their names.
import { connect, portTransport } from "clearway/channel";
import { expose } from "clearway/worker";

function countPrimes(limit) {
  const isComposite = new Uint8Array(limit);
  let count = 0;
  for (let number = 2; number < limit; number++) {
    if (isComposite[number] === 1) continue;
    count++;
    for (let multiple = number * number; multiple < limit; multiple += number) isComposite[multiple] = 1;
  }
  return count;
}

export default expose({
  /** Counts the primes below a limit. */
  countPrimes,

  /** Answers the messages of a channel. Only the way `channel` needs it. */
  async answer(port) {
    const endpoint = await connect(portTransport(port));
    endpoint.methods("primes").handle({ count: (limit) => countPrimes(limit) });
  },
});
