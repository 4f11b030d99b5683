// SPDX-License-Identifier: MIT OR Apache-2.0
// The time that a search of a result for memory to move takes. The search is not public, so it is built from its source.
// Usage: node ts/clearway/bench/search.mjs. Printed are medians in microseconds. The search is bounded: compare the last two.
import { source } from "../../../measure/source.mjs";

const subjects = {
  "one typed array": () => new Uint8Array(1024),
  "an object of 10 numbers": () => Object.fromEntries(Array.from({ length: 10 }, (_, at) => [`k${at}`, at])),
  "1,000 small objects": () => Array.from({ length: 1000 }, (_, at) => ({ at, name: "x" })),
  "100,000 small objects (cut at the limit)": () => Array.from({ length: 100_000 }, (_, at) => ({ at, name: "x" })),
};
const warmRounds = 100;
const rounds = 300;

const { search } = await source("ts/clearway/src/transfer/prepare-result.ts");
for (const [name, make] of Object.entries(subjects)) {
  const value = make();
  const samples = [];
  for (let round = -warmRounds; round < rounds; round++) {
    const begin = performance.now();
    search(value);
    if (round >= 0) samples.push((performance.now() - begin) * 1000);
  }
  samples.sort((a, b) => a - b);
  console.log(`${samples[rounds >> 1].toFixed(1).padStart(10)} us  ${name}`);
}
