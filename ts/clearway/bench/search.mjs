// SPDX-License-Identifier: MIT OR Apache-2.0
// Measures how long Clearway searches a result for memory to move. The search is not public, so this script builds it from its source.
// Usage: node ts/clearway/bench/search.mjs. Prints medians in microseconds. The search stops at its limit, so the last value takes far
// less than a hundred times as long as the one before, though it has a hundred times as many objects.
import { source } from "../../../measure/source.mjs";

const subjects = {
  "one typed array": () => new Uint8Array(1024),
  "an object of 10 numbers": () => Object.fromEntries(Array.from({ length: 10 }, (_, at) => [`k${at}`, at])),
  "1,000 small objects": () => Array.from({ length: 1000 }, (_, at) => ({ at, name: "x" })),
  "100,000 small objects (cut at the limit)": () => Array.from({ length: 100_000 }, (_, at) => ({ at, name: "x" })),
};
const warmRounds = 100;
const rounds = 300;

const { findMovable } = await source("ts/clearway/src/transfer/move.ts");
for (const [name, make] of Object.entries(subjects)) {
  const value = make();
  const samples = [];
  for (let round = -warmRounds; round < rounds; round++) {
    const begin = performance.now();
    findMovable(value);
    if (round >= 0) samples.push((performance.now() - begin) * 1000);
  }
  samples.sort((a, b) => a - b);
  console.log(`${samples[rounds >> 1].toFixed(1).padStart(10)} us  ${name}`);
}
