// SPDX-License-Identifier: MIT OR Apache-2.0
// `node scripts/lab-runs.mjs RUNS [QUESTION ...] [--busy] [--time S]`: makes several runs of `clearway lab`, with --busy beside a busy loop. Prints
// how many answers each run decided, and which answers contradict each other. The runs are in out/lab-runs. Exits with 1 after a contradiction.
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { isProgram } from "./problems.mjs";
import { root } from "./sources.mjs";

const isDecided = ({ verdict }) => verdict !== "open";

/** Returns a row for each question: how often each verdict was given, the ratios, and whether two decided intervals have no common ratio. */
export function rowsOf(runs) {
  const names = [
    ...new Set(runs.flatMap(({ answers, controls }) => [...answers, ...controls].map(({ name }) => name))),
  ];
  return names.map((name) => {
    const found = runs.flatMap(({ answers, controls }) =>
      [...answers, ...controls].filter((each) => each.name === name),
    );
    const intervals = found.filter(isDecided).map(({ interval }) => interval);
    const verdicts = [...new Set(found.map(({ verdict }) => verdict))].map(
      (verdict) => `${verdict} ${found.filter((each) => each.verdict === verdict).length}`,
    );
    const ratios = found.flatMap(({ interval }) => interval?.ratio ?? []);
    const contradicts = Math.max(...intervals.map(({ low }) => low)) > Math.min(...intervals.map(({ high }) => high));
    return { name, verdicts: verdicts.join(", "), ratios, contradicts };
  });
}

/** Returns the number of decided answers of a run. Its controls do not count. */
export const decidedOf = ({ answers }) => answers.filter(isDecided).length;

function runOnce(index, names, time) {
  const out = join(root, "out/lab-runs", String(index));
  mkdirSync(out, { recursive: true });
  const args = ["ts/clearway-lab/dist/cli.js", "lab", ...names, "--out", out, ...(time ? ["--time", time] : [])];
  const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: ["ignore", "ignore", "inherit"] });
  if (status === null || status > 1) throw new Error(`run ${index} ended with status ${status}`);
  return JSON.parse(readFileSync(join(out, "results.json"), "utf8"));
}

function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { busy: { type: "boolean" }, time: { type: "string" } },
  });
  const [count, ...names] = positionals;
  const loop = values.busy ? spawn(process.execPath, ["-e", "for (;;);"], { stdio: "ignore" }) : undefined;
  try {
    const runs = Array.from({ length: Number(count) }, (_, index) => {
      const run = runOnce(index, names, values.time);
      console.log(
        `run ${index}: ${decidedOf(run)} of ${run.answers.length} decided in ${Math.round(run.run.durationMs / 1000)} s`,
      );
      return run;
    });
    console.log("\n| question | answers | ratios | contradiction |\n|---|---|---|---|");
    const rows = rowsOf(runs);
    for (const { name, verdicts, ratios, contradicts } of rows)
      console.log(
        `| ${name} | ${verdicts} | ${ratios.map((ratio) => ratio.toFixed(2)).join(" ")} | ${contradicts ? "yes" : ""} |`,
      );
    return rows.some(({ contradicts }) => contradicts) ? 1 : 0;
  } finally {
    loop?.kill();
  }
}

if (isProgram(import.meta)) process.exitCode = main();
