// SPDX-License-Identifier: MIT OR Apache-2.0
// `node scripts/figures/trend.mjs`: checks that lab/records/trend.html shows the runs in lab/records. `--write` writes the page. With fewer
// than two kept runs there must be no page. Uses the lab's dist (make build).
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { isProgram, report } from "../problems.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));
const RECORDS = "lab/records";
const PAGE = `${RECORDS}/trend.html`;
/** A single run has no trend. */
const RUNS_MIN = 2;

/** Returns the number of folders that `clearway keep` made. */
export function keptRuns(records = path.join(root, RECORDS)) {
  return readdirSync(records, { withFileTypes: true }).filter(
    (entry) => entry.isDirectory() && existsSync(path.join(records, entry.name, "record.json.gz")),
  ).length;
}

/** Writes the page of the trend of `records` to `file`. Both are relative to `folder`, whose name is not in the page. */
export function writeTrend(file, records = RECORDS, folder = root) {
  const cli = path.join(root, "ts/clearway-lab/dist/cli.js");
  if (!existsSync(cli)) throw new Error("the lab is not built: run make build");
  const args = [cli, "trend", "--records", records, "--out", file];
  const { status, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8" });
  if (status !== 0) throw new Error(`clearway trend ended with status ${status}: ${stderr}`);
}

/** Returns what is wrong with the page, or undefined. `page` is the page's text, `expected` that of the kept runs. */
export function trendProblem(runs, page, expected) {
  if (runs < RUNS_MIN) return page === undefined ? undefined : `${PAGE} exists, but fewer than two runs are kept`;
  if (page === expected()) return undefined;
  return `${PAGE} differs from the kept runs; run: node scripts/figures/trend.mjs --write`;
}

function expectedPage() {
  const folder = mkdtempSync(path.join(tmpdir(), "clearway-trend-"));
  try {
    const file = path.join(folder, "trend.html");
    writeTrend(file);
    return readFileSync(file, "utf8");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (isProgram(import.meta)) {
  const file = path.join(root, PAGE);
  const runs = keptRuns();
  if (process.argv[2] === "--write") {
    rmSync(file, { force: true });
    if (runs >= RUNS_MIN) writeTrend(file);
  }
  const problem = trendProblem(runs, existsSync(file) ? readFileSync(file, "utf8") : undefined, expectedPage);
  const shows =
    runs < RUNS_MIN
      ? "fewer than two runs are kept, so there is no page of their trend"
      : `${PAGE} shows the kept runs`;
  report(problem === undefined ? [] : [problem], shows);
}
