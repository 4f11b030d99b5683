#!/usr/bin/env node
// SPDX-License-Identifier: MIT OR Apache-2.0
// `make measure`: measures the figures that depend on a clock, a sampler or the optimiser. `make test` does not test them for that reason.
// Prints each figure's median with its interval and its limit, and writes out/measure.json. The exit status is 1 if a group failed or a
// figure is out, which means that its whole interval is beyond the limit. `node measure/run.mjs WORD...` measures only the groups with
// these names.
import { mkdirSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus, loadavg } from "node:os";
import { fileURLToPath } from "node:url";
import { budgetFigures } from "./budget/budgets.mjs";
import { hostilePeers } from "./hostile-peers.mjs";
import { idle } from "./idle.mjs";
import { intervalOf, verdictOf } from "./interval.mjs";
import { jvm } from "./jvm.mjs";
import { chromiumMeter, nodeMeter } from "./meter.mjs";
import { metrics } from "./metrics.mjs";
import { streams } from "./streams.mjs";

/**
 * The groups of figures. Each group yields `{ name, unit, sense: "at most" | "at least", limit, samples }`. If a tool or a JDK that it
 * needs is missing, it yields `{ name, missing }`.
 */
const groups = { budgets: budgetFigures, nodeMeter, chromiumMeter, metrics, jvm, idle, streams, hostilePeers };
const out = fileURLToPath(new URL("../out/", import.meta.url));

const words = process.argv.slice(2);
const chosen = Object.entries(groups).filter(([name]) => words.length === 0 || words.includes(name));
const unknown = words.filter((word) => !(word in groups));
if (unknown.length > 0) {
  console.error(`measure: no figures are called ${unknown.join(" or ")}: ${Object.keys(groups).join(", ")}`);
  process.exit(2);
}

const shown = (value) => (Number.isFinite(value) ? String(Number(value.toPrecision(4))) : "not seen");

function rowOf({ name, unit, sense, limit, samples }) {
  const interval = intervalOf(samples);
  return { name, unit, sense, limit, ...interval, samples, verdict: verdictOf(interval, { sense, limit }) };
}

function print(row) {
  if (row.missing) return console.log(`  missing    ${row.name}: ${row.missing}`);
  const { verdict, name, median, low, high, n, unit, sense, limit } = row;
  const figure = `${shown(median)} (${shown(low)} to ${shown(high)}, n=${n}) ${unit}`;
  console.log(`  ${verdict.padEnd(9)}  ${name}: ${figure}; ${sense} ${shown(limit)}`);
}

const rows = [];
for (const [group, figures] of chosen) {
  console.log(`measure: ${group}`);
  try {
    for await (const figure of figures()) {
      const row = figure.missing ? figure : rowOf(figure);
      rows.push({ group, ...row });
      print(row);
    }
  } catch (error) {
    rows.push({ group, name: group, verdict: "failed", why: String(error?.stack ?? error) });
    console.error(`  failed     ${group}: ${error?.stack ?? error}`);
  }
}

const bad = rows.filter(({ verdict }) => verdict === "out" || verdict === "failed");
const open = rows.filter(({ verdict }) => verdict === "undecided");
const machine = {
  cpu: cpus()[0]?.model ?? "unknown",
  cores: availableParallelism(),
  node: process.version,
  load: loadavg()[0],
};
mkdirSync(out, { recursive: true });
writeFileSync(
  `${out}measure.json`,
  `${JSON.stringify({ version: 1, at: new Date().toISOString(), machine, rows }, null, 2)}\n`,
);
console.log(
  `\nmeasure: ${machine.cpu}, ${machine.cores} cores, load ${machine.load.toFixed(1)}; the interval of a median, 95 % or more from six samples on`,
);
if (open.length > 0)
  console.log(
    `measure: ${open.length} undecided, the noise here is larger than the distance to the limit: ${open.map(({ name }) => name).join("; ")}`,
  );
for (const { name, verdict } of bad) console.error(`measure: ${verdict === "out" ? "OUT" : "FAILED"}: ${name}`);
console.log(`measure: ${rows.length - bad.length - open.length} of ${rows.length} figures are kept or told as missing`);
process.exitCode = bad.length > 0 ? 1 : 0;
