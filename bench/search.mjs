// SPDX-License-Identifier: MIT OR Apache-2.0
import { build } from "esbuild";
import { quantile } from "./rounds.mjs";

const source = new URL("../ts/clearway/src/", import.meta.url).pathname;

// The search is not public: it is built from its source for this measurement.
const { outputFiles } = await build({
  entryPoints: [`${source}transfer/search.ts`],
  alias: { "#host": `${source}host/node.ts` },
  bundle: true,
  write: false,
  format: "esm",
  platform: "node",
});
const { search: find, searchLimit } = await import(
  `data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString("base64")}`
);

const subjects = {
  "one typed array": () => new Uint8Array(1024),
  "an object of 10 numbers": () => Object.fromEntries(Array.from({ length: 10 }, (_, at) => [`k${at}`, at])),
  "1,000 small objects": () => Array.from({ length: 1000 }, (_, at) => ({ at, name: "x" })),
  "100,000 small objects (cut at the limit)": () => Array.from({ length: 100_000 }, (_, at) => ({ at, name: "x" })),
};

/** What the search for memory to move costs, in microseconds. It is bounded: see the last two. */
export function search() {
  return Object.entries(subjects).map(([name, make]) => {
    const value = make();
    const samples = [];
    for (let round = 0; round < 400; round++) {
      const begin = performance.now();
      find(value);
      samples.push((performance.now() - begin) * 1000);
    }
    const late = samples.slice(100);
    return { name, limit: searchLimit, p50Us: quantile(late, 0.5), p99Us: quantile(late, 0.99) };
  });
}
