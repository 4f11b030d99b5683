// SPDX-License-Identifier: MIT OR Apache-2.0
// `node scripts/lab-runs.mjs RUNS [QUESTION ...] [--busy] [--time S] [--keep SET]`: makes several runs of `clearway lab`, with --busy beside a busy
// loop. Prints how many answers each run decided, and which answers contradict each other. The runs are in out/lab-runs. With --keep, also
// writes their answers into lab/records/runs.json, from which the table in docs/lab/method.md is generated (scripts/figures/page.mjs). SET is
// one of `sets` below. Exits with 1 after a contradiction.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
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

/** The sets of runs that show what the engine decides. Each has its own row in the table. */
export const sets = {
  quiet: "all questions, six times, on a quiet machine",
  busy: "all questions, four times, beside a busy loop",
  same: "one mechanism against itself, a hundred times",
  slowed: "a loop against the same one with 5, 10 and 30 % more turns",
};

/** Returns the compact form of runs: when, on what, and for each question the verdict, the ratio and the ends of its interval. */
export function compactOf(runs, isBusy) {
  const row = ({ name, verdict, interval, otherShare = 0 }) => [
    ...[name, verdict],
    ...(interval === undefined ? [] : [interval.ratio, interval.low, interval.high]),
    ...(otherShare >= 0.25 ? [`others ${otherShare}`] : []),
  ];
  return {
    ...{ startedAt: runs[0].run.startedAt, commit: runs[0].build.commit, cpu: runs[0].machine.cpu, isBusy },
    runs: runs.map(({ run, answers, controls }) => ({
      seconds: Math.round(run.durationMs / 1000),
      answers: answers.map(row),
      controls: controls.map(row),
    })),
  };
}

/** Returns the lines of the table of kept sets. A set that is not kept has no row. */
export function tableOf(kept) {
  const answersOf = (rows) =>
    rows.map(([name, verdict, ratio, low, high]) => ({ name, verdict, interval: { ratio, low, high } }));
  const line = (...cells) => `| ${cells.join(" | ")} |`;
  return [
    line("runs", "seconds each", "answers decided", "contradictions", "faster", "slower", "no difference", "open"),
    line("---", "---:", "---:", "---:", "---:", "---:", "---:", "---:"),
    ...Object.keys(sets).flatMap((set) => {
      if (kept[set] === undefined) return [];
      const runs = kept[set].runs.map(({ answers, controls, seconds }) => ({
        ...{ answers: answersOf(answers), controls: answersOf(controls), seconds },
      }));
      const shown = (numbers) =>
        new Set(numbers).size === 1 ? `${numbers[0]}` : `${Math.min(...numbers)} to ${Math.max(...numbers)}`;
      const all = runs.flatMap(({ answers, controls }) => (answers.length > 0 ? answers : controls));
      const count = (verdict) => all.filter((each) => each.verdict === verdict).length;
      return line(
        `${sets[set]} (${runs.length} kept, ${kept[set].startedAt.slice(0, 10)}, ${kept[set].commit})`,
        shown(runs.map(({ seconds }) => seconds)),
        `${shown(runs.map(decidedOf))} of ${runs[0].answers.length}`,
        rowsOf(runs).filter(({ contradicts }) => contradicts).length,
        ...["faster", "slower", "no difference", "open"].map(count),
      );
    }),
  ];
}

function keep(set, runs, isBusy) {
  const file = join(root, "lab/records/runs.json");
  const kept = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {};
  kept[set] = compactOf(runs, isBusy);
  writeFileSync(file, `${JSON.stringify(kept)}\n`);
}

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
    options: { busy: { type: "boolean" }, time: { type: "string" }, keep: { type: "string" } },
  });
  const [count, ...names] = positionals;
  if (values.keep !== undefined && !Object.hasOwn(sets, values.keep))
    throw new RangeError(`no such set: keep=${values.keep}`);
  const loop = values.busy ? spawn(process.execPath, ["-e", "for (;;);"], { stdio: "ignore" }) : undefined;
  try {
    const runs = Array.from({ length: Number(count) }, (_, index) => {
      const run = runOnce(index, names, values.time);
      console.log(
        `run ${index}: ${decidedOf(run)} of ${run.answers.length} decided in ${Math.round(run.run.durationMs / 1000)} s`,
      );
      return run;
    });
    if (values.keep !== undefined) keep(values.keep, runs, values.busy === true);
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
