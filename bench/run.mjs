// SPDX-License-Identifier: MIT OR Apache-2.0
// `make bench`: the promises that can be read off a clock, each in one interleaved run, beside its peers.
// node bench/run.mjs [--rounds N] [--seed N] [--out FILE]
import { readFileSync, writeFileSync } from "node:fs";
import { cpus, release, totalmem } from "node:os";
import { parseArgs } from "node:util";
import { latency } from "./latency.mjs";
import { search } from "./search.mjs";
import { start } from "./start.mjs";
import { stream } from "./stream.mjs";
import { table } from "./table.mjs";
import { throughput } from "./throughput.mjs";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "21" },
    seed: { type: "string", default: "1" },
    out: { type: "string", default: new URL("results.json", import.meta.url).pathname },
  },
});
const count = Number(values.rounds);
const seed = Number(values.seed);
if (!Number.isInteger(count) || count < 3)
  throw new RangeError(`--rounds must be a whole number, 3 or more: ${values.rounds}`);

const versionOf = (name) =>
  JSON.parse(readFileSync(new URL(`../node_modules/${name}/package.json`, import.meta.url), "utf8")).version;

const results = {
  version: 1,
  machine: {
    cpu: cpus()[0]?.model ?? "unknown",
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    kernel: release(),
    node: process.version,
  },
  versions: Object.fromEntries(
    ["clearway", "piscina", "tinypool", "workerpool", "poolifier", "comlink"].map((name) => [name, versionOf(name)]),
  ),
  seed,
  rounds: count,
  latency: await latency(count, seed),
  throughput: await throughput(count, seed),
  start: await start(count, seed),
  stream: await stream(count, seed),
  search: search(),
};
writeFileSync(values.out, `${JSON.stringify(results, null, 2)}\n`);
console.log(table(results));
