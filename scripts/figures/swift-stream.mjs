// SPDX-License-Identifier: MIT OR Apache-2.0
// `node scripts/figures/swift-stream.mjs`: checks that docs/lab/swift.md shows the newest kept run of the published stream in Swift. `--from DIR`
// takes another run, `--write` writes the page. Uses the lab's dist (make build).
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { isProgram, report } from "../problems.mjs";
import { readRecord, readResults, root } from "./experiments.mjs";

const PAGE = "docs/lab/swift.md";
const [START, END] = ["<!-- swift-stream -->", "<!-- /swift-stream -->"];
const NONE =
  "No run of these cells is kept yet. `node scripts/figures/swift-stream.mjs --from DIR --write` fills this part from a run.";

const isStream = ({ scenario, params }) =>
  scenario === "stream-published-swift" && params.perSecond === 60 && params.count === 2000;

/** Returns the newest folder of a kept run with measured cells of 60 events a second in Swift, or undefined. */
export function newestStream(folder = path.join(root, "lab/records")) {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && /^\d{4}-\d{2}-\d{2}/.test(entry.name))
    .map(({ name }) => path.join(folder, name))
    .filter((run) => existsSync(path.join(run, "results.json")))
    .filter((run) => readResults(run).cells.some((cell) => isStream(cell) && cell.status === "ok"))
    .sort()
    .at(-1);
}

/** Returns the page with the part of a run between its marks. */
export function pageWith(part, page) {
  const [from, to] = [page.indexOf(START), page.indexOf(END)];
  if (from < 0 || to < from) throw new Error(`${PAGE} has no part between ${START} and ${END}`);
  return `${page.slice(0, from + START.length)}\n${part}\n${page.slice(to)}`;
}

async function partOf(folder) {
  if (folder === undefined) return NONE;
  const file = path.join(root, "ts/clearway-lab/dist/experiments-page.js");
  if (!existsSync(file)) throw new Error("the lab is not built: run make build");
  const { swiftStreamMarkdown } = await import(pathToFileURL(file).href);
  return swiftStreamMarkdown(readResults(folder), readRecord(folder));
}

if (isProgram(import.meta)) {
  const { values } = parseArgs({ options: { from: { type: "string" }, write: { type: "boolean", default: false } } });
  const folder = values.from ?? newestStream();
  const file = path.join(root, PAGE);
  const page = readFileSync(file, "utf8");
  const expected = pageWith(await partOf(folder), page);
  const problems = [];
  if (values.write) writeFileSync(file, expected);
  else if (page !== expected)
    problems.push(`${PAGE} differs from the kept run; run: node scripts/figures/swift-stream.mjs --write`);
  report(problems, folder === undefined ? "no run of the stream in Swift is kept" : `${PAGE} shows the kept run`);
}
