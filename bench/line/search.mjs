// SPDX-License-Identifier: MIT OR Apache-2.0
// The search of a result for memory to move. It is not public, so it is built from its source.
import { source } from "../host/source.mjs";

const subjects = {
  "one typed array": () => new Uint8Array(1024),
  "an object of 10 numbers": () => Object.fromEntries(Array.from({ length: 10 }, (_, at) => [`k${at}`, at])),
  "1,000 small objects": () => Array.from({ length: 1000 }, (_, at) => ({ at, name: "x" })),
  "100,000 small objects (cut at the limit)": () => Array.from({ length: 100_000 }, (_, at) => ({ at, name: "x" })),
};

/** Measures the search in microseconds; it has no target. The search is bounded: compare the last two subjects. */
export async function search({ host, collect }) {
  const { search: find } = await source("ts/clearway/src/transfer/search.ts");
  for (const [name, make] of Object.entries(subjects)) {
    const value = make();
    const samples = [];
    for (let round = 0; round < 400; round++) {
      const begin = performance.now();
      find(value);
      samples.push((performance.now() - begin) * 1000);
    }
    const latency = { unit: "us", samples: samples.slice(100) };
    collect.measured("search", host.name, { name: "clearway", role: "clearway" }, { value: name }, { latency });
  }
}
