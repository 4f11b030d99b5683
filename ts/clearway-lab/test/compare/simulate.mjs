#!/usr/bin/env node
// SPDX-License-Identifier: MIT OR Apache-2.0
// Prints the false alarms of `clearway compare` and `clearway gate`, and the changes that they find:
//
//   node ts/clearway-lab/test/compare/simulate.mjs [--pairs 200]     simulated runs; the figures of docs/lab/compare.md
//   node ts/clearway-lab/test/compare/simulate.mjs --runs DIR DIR…   kept runs of the same code: every pair of them
//
// The simulation gives the same figures on every machine. It takes about ten minutes.
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { build } from "esbuild";

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const {
  values: { pairs: pairsText, runs },
  positionals,
} = parseArgs({
  options: { pairs: { type: "string", default: "200" }, runs: { type: "boolean" } },
  allowPositionals: true,
});
const pairs = Number(pairsText);
if (!Number.isInteger(pairs) || pairs < 1) throw new RangeError(`pairs must be a positive integer: pairs=${pairsText}`);

const outdir = here("../../.cache/simulation");
await build({
  entryPoints: ["false-alarms.ts", "simulated-runs.ts", "../../src/compare/kept-run.ts"].map(here),
  entryNames: "[name]",
  ...{
    bundle: true,
    splitting: true,
    platform: "node",
    format: "esm",
    packages: "external",
    outdir,
    logLevel: "warning",
  },
});
process.env.CLEARWAY_LAB_SCENARIOS ??= here("../../scenarios");
const load = (name) => import(pathToFileURL(path.join(outdir, `${name}.js`)).href);
const { compareKeptRuns, falseAlarms, gateRuns, power } = await load("false-alarms");
const { HARD_NOISE, QUICK } = await load("simulated-runs");

const percent = (share) => `${(share * 100).toFixed(1)} %`;
const row = (cells) => console.log(`| ${cells.join(" | ")} |`);

if (runs) await printKept(positionals);
else {
  printFalseAlarms();
  printPower();
}

function printFalseAlarms() {
  console.log(`\nEqual runs, ${pairs} pairs each`);
  row([
    "simulated",
    "gate --max 1.10 fails",
    "gate --max 1 fails",
    "any verdict slower or faster",
    'cells with "no difference"',
  ]);
  const worlds = [
    ["quick run", 1, QUICK],
    ["quick run, hard noise", 2, { ...QUICK, noise: HARD_NOISE }],
    ["20 rounds", 3, { ...QUICK, rounds: [20] }],
    ["20 rounds, hard noise", 4, { ...QUICK, rounds: [20], noise: HARD_NOISE }],
  ];
  for (const [name, seed, simulation] of worlds) {
    const rates = falseAlarms(seed, pairs, simulation, [1.1, 1]);
    const { falseAlarms: failed, falseVerdicts, noDifference } = rates;
    row(
      [name, failed["1.1"], failed["1"], falseVerdicts, noDifference].map((each, at) =>
        at === 0 ? each : percent(each),
      ),
    );
  }
}

function printPower() {
  console.log(`\nOne of 33 cells slower in B, ${pairs} pairs each: how often the gate finds it`);
  row(["slower by", "rounds", "--max 1", "--max 1, this cell alone", "--max 1.10", "--max 1.10, this cell alone"]);
  const gates = [1, 1.1].flatMap((max) => [false, true].map((alone) => ({ max, alone })));
  for (const [rounds, simulation] of [
    ["5 to 9", QUICK],
    ["20", { ...QUICK, rounds: [20] }],
  ]) {
    for (const factor of [1.1, 1.2, 1.3, 1.5, 2]) {
      const found = power(5, pairs, simulation, factor, gates);
      row([`${Math.round((factor - 1) * 100)} %`, rounds, ...found.map(percent)]);
    }
  }
}

async function printKept(folders) {
  const { readKeptRun } = await load("kept-run");
  const kept = folders.map((folder) => readKeptRun(folder));
  const count = { pairs: 0, "--max 1.10": 0, "--max 1": 0, verdicts: 0 };
  row([
    "A",
    "B",
    "B / A of unchanged code",
    "noise",
    "no difference",
    "undecided",
    "slower",
    "faster",
    "gate --max 1.10",
  ]);
  for (const [at, a] of kept.entries()) {
    for (const b of kept.slice(at + 1)) {
      const compared = compareKeptRuns(a, b);
      const { cells, noise } = compared;
      const verdicts = ["no difference", "undecided", "slower", "faster"].map(
        (verdict) => cells.filter((cell) => cell.verdict === verdict).length,
      );
      const gate = gateRuns(compared, { max: 1.1 }).verdict;
      count.pairs++;
      if (gate === "failed") count["--max 1.10"]++;
      if (gateRuns(compared, { max: 1 }).verdict === "failed") count["--max 1"]++;
      if (verdicts[2] + verdicts[3] > 0) count.verdicts++;
      const name = ({ file }) => path.basename(path.dirname(file));
      row([
        name(a),
        name(b),
        noise.shift.toFixed(3),
        `${noise.factor.toFixed(3)} (${noise.source})`,
        ...verdicts,
        gate,
      ]);
    }
  }
  console.log(JSON.stringify(count));
  printSensitivity(kept);
}

/**
 * Prints how often the gate would find a cell of Clearway that became slower, with the noise of kept runs. A cell whose times all grow by
 * a factor has the p-value for the limit that the unchanged cell has for the limit divided by the factor.
 */
function printSensitivity(kept) {
  console.log(
    "\nOne cell slower in B, for every cell of Clearway in every pair, in both directions: how often the gate finds it",
  );
  row(["slower by", "--max 1", "--max 1, this cell alone", "--max 1.10", "--max 1.10, this cell alone"]);
  const pairsOfCells = kept.flatMap((a) =>
    kept.flatMap((b) => {
      if (a === b) return [];
      const cells = compareKeptRuns(a, b).cells.filter(({ role, p }) => role === "clearway" && p !== undefined);
      return cells.map((cell) => ({ cell, count: cells.length }));
    }),
  );
  for (const factor of [1.1, 1.2, 1.3, 1.5, 2]) {
    const share = (max, alone) => {
      const isFound = ({ cell, count }) => {
        const p = cell.probabilityAbove(Math.log(max / factor)) * (alone ? 1 : count);
        return p < 0.05 && cell.estimate.log + Math.log(factor) > Math.log(cell.floor);
      };
      return pairsOfCells.filter(isFound).length / pairsOfCells.length;
    };
    const shares = [share(1, false), share(1, true), share(1.1, false), share(1.1, true)];
    row([`${Math.round((factor - 1) * 100)} %`, ...shares.map(percent)]);
  }
}
