// SPDX-License-Identifier: MIT OR Apache-2.0
// `node scripts/figures/agreement.mjs`: checks that docs/lab/agreement.md shows the kept answers of repeated quick runs.
// `--write` updates the page. `--collect quiet:DIR busy:DIR ...` first keeps the answers of these runs in lab/records/quick-answers.json.
import { readFileSync, writeFileSync } from "node:fs";
import { isProgram, report } from "../problems.mjs";

const kept = new URL("../../lab/records/quick-answers.json", import.meta.url);
const pageUrl = new URL("../../docs/lab/agreement.md", import.meta.url);
const [START, END] = ["<!-- agreement -->", "<!-- /agreement -->"];

/** Returns the answers of runs as `{ machine, runs }`. Throws an Error if a run has no answers or the machines differ. */
export function collected(runs) {
  const [first] = runs;
  if (first === undefined) throw new Error("name at least one run, as quiet:DIR or busy:DIR");
  const machine = machineOf(first.results);
  return {
    machine,
    runs: runs.map(({ state, results }) => {
      const { answers, run } = results;
      if (answers === undefined) throw new Error(`the run of ${run.startedAt} was not planned for questions`);
      if (machineOf(results) !== machine) throw new Error(`the run of ${run.startedAt} is from another machine`);
      const { startedAt, durationMs, seed } = run;
      return { state, startedAt, durationMs, seed, ...builtFrom(results), answers };
    }),
  };
}

/** Returns what was measured, and beside which load: without these, a kept answer is no evidence. */
function builtFrom({ build, machine, run }) {
  const { clearway, commit } = build;
  if (commit === null) throw new Error(`the run of ${run.startedAt} has no commit: run the lab in a clone`);
  if (machine.otherCores === undefined)
    throw new Error(`the run of ${run.startedAt} does not say what other programs used`);
  return { clearway, commit, otherCores: machine.otherCores };
}

function machineOf({ machine, run }) {
  return `${machine.cpu}, ${machine.cores} cores, ${run.runtimes.node}, ${run.runtimes.chromium}, ${run.runtimes.jvm}`;
}

/** Groups the comparisons of all runs. Each row has the same comparison of every run. */
export function rowsOf({ runs }) {
  const rows = new Map();
  for (const { state, answers } of runs) {
    for (const { question, comparisons } of answers) {
      for (const compared of comparisons) {
        const { label } = compared;
        const title = label === undefined ? question : `${question}: ${label}`;
        const row = rows.get(title) ?? { title, found: [] };
        rows.set(title, row);
        row.found.push({ state, ...compared });
      }
    }
  }
  return [...rows.values()].map((row) => ({ ...row, disagreement: disagreementOf(row.found) }));
}

/**
 * Returns how the decided answers to one comparison disagree, or undefined if they do not. Runs of one state must not contradict each
 * other. A run says beside which load it was made, so an answer that is decided the other way beside another load is no contradiction.
 */
function disagreementOf(found) {
  const decided = found.filter(({ verdict }) => verdict === "decided");
  const isMixed = (runs) => new Set(runs.map(({ ratio }) => ratio < 1)).size > 1;
  const states = [...new Set(decided.map(({ state }) => state))];
  if (states.some((state) => isMixed(decided.filter((run) => run.state === state)))) return "contradiction";
  if (isMixed(decided)) return "depends on the load";
  if (decided.length > 0 && found.some(({ verdict }) => verdict === "no difference")) return "near the limit";
  return undefined;
}

/** Returns the page's generated part. */
export function agreementPage(record) {
  const rows = rowsOf(record);
  const count = (wanted) => rows.filter(({ disagreement }) => disagreement === wanted).length;
  const states = [...new Set(record.runs.map(({ state }) => state))];
  const spans = states.map((state) => {
    const minutes = record.runs.filter((run) => run.state === state).map(({ durationMs }) => durationMs / 60_000);
    return `${minutes.length} ${state} (${Math.min(...minutes).toFixed(1)} to ${Math.max(...minutes).toFixed(1)} minutes each)`;
  });
  const lines = [
    `${record.runs.length} runs of \`make lab\` on one machine (${record.machine}): ${spans.join(", ")}.${measuredText(record.runs)}`,
    `Comparisons: ${rows.length}. Decided in opposite directions by two runs of the same state: ${count("contradiction")}. Decided in ` +
      `opposite directions beside different loads: ${count("depends on the load")}. Decided in one run and "no difference" in another, ` +
      `because the ratio lies near the limit of 1.1: ${count("near the limit")}.`,
    "",
    `| comparison | ${states.map((state) => `${state}: ratios | ${state}: verdicts`).join(" | ")} | |`,
    `|---|${"---|".repeat(states.length * 2 + 1)}`,
    ...rows.map(
      ({ title, found, disagreement }) =>
        `| ${title} | ${states.map((state) => cellsOf(found.filter((each) => each.state === state))).join(" | ")} | ${disagreement ?? ""} |`,
    ),
  ];
  return lines.join("\n");
}

/** Says what the runs measured, and what other programs used. Empty for kept answers from before these facts were kept. */
function measuredText(runs) {
  if (runs.some(({ commit }) => commit === undefined)) return "";
  const builds = [...new Set(runs.map(({ clearway, commit }) => `Clearway ${clearway} (${commit})`))];
  const loads = [...new Set(runs.map(({ state }) => state))].map((state) => {
    const cores = runs.filter((run) => run.state === state).map(({ otherCores }) => otherCores);
    return `${state}: ${Math.min(...cores)} to ${Math.max(...cores)} cores`;
  });
  return ` Measured: ${builds.join(", ")}. Used by other programs: ${loads.join("; ")}.`;
}

function cellsOf(found) {
  const ratios = found.flatMap(({ ratio }) => (ratio === undefined ? [] : [ratio]));
  const verdicts = ["decided", "no difference", "undecided"].flatMap((verdict) => {
    const n = found.filter((each) => each.verdict === verdict).length;
    return n === 0 ? [] : [`${n} ${verdict}`];
  });
  const range = ratios.length === 0 ? "" : `${shown(Math.min(...ratios))} to ${shown(Math.max(...ratios))}`;
  return `${range} | ${verdicts.join(", ")}`;
}

function shown(ratio) {
  return String(Number(ratio.toPrecision(3)));
}

function filled(page, part) {
  const [from, to] = [page.indexOf(START), page.indexOf(END)];
  if (from < 0 || to < from) throw new Error(`docs/lab/agreement.md has no part between ${START} and ${END}`);
  return `${page.slice(0, from + START.length)}\n${part}\n${page.slice(to)}`;
}

if (isProgram(import.meta)) {
  const [option, ...runs] = process.argv.slice(2);
  if (option === "--collect") {
    const read = (dir) => JSON.parse(readFileSync(`${dir}/results.json`, "utf8"));
    const named = runs.map((run) => ({
      state: run.slice(0, run.indexOf(":")),
      results: read(run.slice(run.indexOf(":") + 1)),
    }));
    writeFileSync(kept, `${JSON.stringify(collected(named), null, 1)}\n`);
  }
  const page = readFileSync(pageUrl, "utf8");
  const expected = filled(page, agreementPage(JSON.parse(readFileSync(kept, "utf8"))));
  const problems = [];
  if (option === "--collect" || option === "--write") writeFileSync(pageUrl, expected);
  else if (page !== expected)
    problems.push("docs/lab/agreement.md differs from the kept runs; run: node scripts/figures/agreement.mjs --write");
  report(problems, "docs/lab/agreement.md shows the kept runs");
}
