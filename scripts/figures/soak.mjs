// SPDX-License-Identifier: MIT OR Apache-2.0
// `node scripts/figures/soak.mjs`: checks that soak/README.md shows the kept runs of the soak, lab/records/soak.json. `--write` writes the page.
// `--keep FILE ...` first replaces the kept runs by these files `soak.json`, without their samples.
import { readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { isProgram, report } from "../problems.mjs";

const PAGE = new URL("../../soak/README.md", import.meta.url);
const RECORD = new URL("../../lab/records/soak.json", import.meta.url);
const [START, END] = ["<!-- kept soak -->", "<!-- /kept soak -->"];

/** Returns a run without its samples: a chart needs them, the page does not. */
export function keptOf({ parts, ...run }) {
  return { ...run, parts: parts.map(({ samples, ...part }) => ({ ...part, samples: samples.length })) };
}

const minutes = ({ hours }) => Number((hours * 60).toPrecision(3));
const count = (value) => value.toLocaleString("en");
const megabytes = (value) => Number((value / 2 ** 20).toPrecision(2));

function growth(trends, name, shown) {
  const found = trends.find((each) => each.name === name);
  if (found?.growth === undefined) return "–";
  const { growth: grown, low, high, verdict } = found;
  const text = `${shown(grown)} (${shown(low)} to ${shown(high)})`;
  return verdict === "flat" ? text : `${text}, **${verdict}**`;
}

const whole = (value) => Math.round(value);

function rowOf({ name, report: { settled, renewals }, trends, faults }) {
  return [
    `\`${name}\``,
    count(settled),
    count(renewals),
    growth(trends, "rss", megabytes),
    growth(trends, "heap", megabytes),
    growth(trends, "threads", whole),
    growth(trends, "files", whole),
    growth(trends, "handles", whole),
    faults.length === 0 ? "passed" : "failed",
  ];
}

const HEAD = [
  "part",
  "operations settled",
  "opened anew",
  "resident memory (MB)",
  "heap (MB)",
  "threads",
  "files",
  "handles",
  "verdict",
];

/** Returns the generated part of the page. */
export function partOf(runs) {
  return runs
    .map((run) => {
      const { at, seed, machine, parts } = run;
      const rows = parts.filter(({ missing }) => missing === undefined).map(rowOf);
      const table = [HEAD, ["---", ...HEAD.slice(1).map(() => "---:")], ...rows];
      const faults = parts.flatMap((part) => (part.faults ?? []).map((fault) => `- \`${part.name}\`: ${fault}`));
      return [
        `**${at.slice(0, 10)}, ${minutes(run)} minutes**, seed ${seed}. ${machine.cpu}, ${machine.cores} cores, Node ${machine.node}.`,
        table.map((row) => `| ${row.join(" | ")} |`).join("\n"),
        ...(faults.length > 0 ? [faults.join("\n")] : []),
      ].join("\n\n");
    })
    .join("\n\n");
}

/** Returns the page with the part between its marks. */
export function pageWith(part, page) {
  const [from, to] = [page.indexOf(START), page.indexOf(END)];
  if (from < 0 || to < from) throw new Error(`soak/README.md has no part between ${START} and ${END}`);
  return `${page.slice(0, from + START.length)}\n\n${part}\n\n${page.slice(to)}`;
}

if (isProgram(import.meta)) {
  const options = { keep: { type: "string", multiple: true }, write: { type: "boolean", default: false } };
  const { values } = parseArgs({ options });
  const read = (path) => JSON.parse(readFileSync(path, "utf8"));
  if (values.keep) {
    const runs = values.keep.map((path) => keptOf(read(path)));
    writeFileSync(RECORD, `${JSON.stringify({ version: 1, runs }, null, 1)}\n`);
  }
  const { runs } = read(RECORD);
  const page = readFileSync(PAGE, "utf8");
  const expected = pageWith(partOf(runs), page);
  const problems = [];
  if (values.write) writeFileSync(PAGE, expected);
  else if (page !== expected)
    problems.push("soak/README.md differs from the kept runs; run: node scripts/figures/soak.mjs --write");
  report(problems, `soak/README.md shows ${runs.length} kept runs`);
}
