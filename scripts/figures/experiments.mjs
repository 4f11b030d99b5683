// SPDX-License-Identifier: MIT OR Apache-2.0
// `node scripts/figures/experiments.mjs`: checks that docs/experiments.md shows the kept run of the five published experiments, the newest
// folder in lab/records with a run of that profile. `--from DIR` takes another run. `--write` writes the page. Without a kept run there must be no page.
// Uses the lab's dist (make build), which has the code of the report's tables.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { gunzipSync } from "node:zlib";
import { isProgram, report } from "../problems.mjs";

export const root = fileURLToPath(new URL("../../", import.meta.url));
const PAGE = "docs/experiments.md";
const [START, END] = ["<!-- experiments -->", "<!-- /experiments -->"];

const INTRO = `# The five published experiments

Clearway grew out of [five published experiments](lab/published.md#where-they-were-published). The lab repeats each as it was published, and measures more rows beside it. A row in
italics has the authors' figures. They come from another machine and another language: compare the authors' ratios with ours, never their
milliseconds. A figure in parentheses comes from fewer samples than its quantile needs. [The profile published](lab/published.md) says how to repeat the run.

${START}
${END}
`;

/** Returns the newest folder of a kept run under lab/records, named by its date, or undefined. */
export function newestRecord(folder = path.join(root, "lab/records")) {
  const newest = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && /^\d{4}-\d{2}-\d{2}/.test(entry.name))
    .map(({ name }) => path.join(folder, name))
    .filter((run) => existsSync(path.join(run, "results.json")) && readResults(run).run.profile === "published")
    .sort()
    .at(-1);
  return newest;
}

/** Reads the results of a run. */
export function readResults(run) {
  return JSON.parse(readFileSync(path.join(run, "results.json"), "utf8"));
}

/** Reads the record of a run. A kept run's is compressed. */
export function readRecord(run) {
  const packed = path.join(run, "record.json.gz");
  if (existsSync(packed)) return JSON.parse(gunzipSync(readFileSync(packed)).toString("utf8"));
  return JSON.parse(readFileSync(path.join(run, "record.json"), "utf8"));
}

/** Returns the whole page with the generated part between its marks. */
export function pageWith(part, page = INTRO) {
  const [from, to] = [page.indexOf(START), page.indexOf(END)];
  if (from < 0 || to < from) throw new Error(`${PAGE} has no part between ${START} and ${END}`);
  return `${page.slice(0, from + START.length)}\n${part}\n${page.slice(to)}`;
}

/** Reads a run's folder, and returns the generated part. */
export async function partOf(folder) {
  const file = path.join(root, "ts/clearway-lab/dist/experiments-page.js");
  if (!existsSync(file)) throw new Error("the lab is not built: run make build");
  const { experimentsMarkdown } = await import(pathToFileURL(file).href);
  return experimentsMarkdown(readResults(folder), readRecord(folder));
}

if (isProgram(import.meta)) {
  const { values } = parseArgs({
    options: { from: { type: "string" }, write: { type: "boolean", default: false }, check: { type: "boolean" } },
  });
  const folder = values.from ?? newestRecord();
  const file = path.join(root, PAGE);
  const page = existsSync(file) ? readFileSync(file, "utf8") : undefined;
  const problems = [];
  if (folder === undefined) {
    if (page !== undefined) problems.push(`${PAGE} has figures, but lab/records has no run of the profile published`);
  } else {
    const expected = pageWith(await partOf(folder), page);
    if (values.write) writeFileSync(file, expected);
    else if (page !== expected)
      problems.push(`${PAGE} differs from the run in ${folder}; run: node scripts/figures/experiments.mjs --write`);
  }
  report(problems, folder === undefined ? "no run of the published experiments is kept" : `${PAGE} shows the kept run`);
}
