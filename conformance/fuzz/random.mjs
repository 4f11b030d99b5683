// SPDX-License-Identifier: MIT OR Apache-2.0
// Generates pseudo-random numbers. They are the same for the same seed on every machine.

/** Returns a source of numbers. `below(n)` returns a whole number from 0 to n - 1. */
export function randomFrom(seed) {
  // splitmix32 with 32 bits of state. Every seed has its own sequence.
  let state = seed >>> 0;
  const bits = () => {
    state = (state + 0x9e3779b9) >>> 0;
    let mixed = state ^ (state >>> 16);
    mixed = Math.imul(mixed, 0x21f0aaad);
    mixed ^= mixed >>> 15;
    mixed = Math.imul(mixed, 0x735a2d97);
    return (mixed ^ (mixed >>> 15)) >>> 0;
  };
  const below = (n) => Math.floor((bits() / 0x1_0000_0000) * n);
  return {
    bits,
    below,
    chance: (one, of) => below(of) < one,
    pick: (choices) => choices[below(choices.length)],
    many: (max, make) => Array.from({ length: below(max + 1) }, make),
    /** Returns 64 random bits. */
    wide: () => (BigInt(bits()) << 32n) | BigInt(bits()),
  };
}
