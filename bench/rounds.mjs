// SPDX-License-Identifier: MIT OR Apache-2.0
// Interleaved rounds: in each round every subject is measured once, in a new random order, so that a machine that gets
// slower gets slower for all. What is compared is the ratio within a round; its median and spread are the result.

/** A repeatable random order (mulberry32). */
export function shuffler(seed) {
  let state = seed >>> 0;
  const random = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
  return (items) => {
    const order = [...items];
    for (let at = order.length - 1; at > 0; at--) {
      const other = Math.floor(random() * (at + 1));
      [order[at], order[other]] = [order[other], order[at]];
    }
    return order;
  };
}

/** Measures every subject once a round. `measure(subject)` gives one number; returns name to numbers, by round. */
export async function rounds(subjects, count, seed, measure) {
  const shuffle = shuffler(seed);
  const figures = new Map(subjects.map((subject) => [subject.name, []]));
  for (let round = 0; round < count; round++) {
    for (const subject of shuffle(subjects)) figures.get(subject.name).push(await measure(subject));
  }
  return figures;
}

/** The value under which a share `q` of the numbers lies. */
export function quantile(numbers, q) {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))];
}

/** Median and middle half of what is told, and of the ratio of two series round by round. */
export function spread(numbers) {
  return {
    median: quantile(numbers, 0.5),
    p25: quantile(numbers, 0.25),
    p75: quantile(numbers, 0.75),
    rounds: numbers.length,
  };
}

export function ratio(a, b) {
  return spread(a.map((value, round) => value / b[round]));
}
