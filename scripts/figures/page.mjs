// SPDX-License-Identifier: MIT OR Apache-2.0
// `node scripts/figures/page.mjs`: checks that the figures in the pages are those of the kept runs. `--write` updates them.
import { readFileSync, writeFileSync } from "node:fs";
import { isProgram, report } from "../problems.mjs";
import { fill } from "./fill.mjs";

/** The pages with figures, and the record of each. All other pages link to docs/performance.md. */
const pages = {
  "README.md": "lab/records/limits/results.json",
  "docs/performance.md": "lab/records/limits/results.json",
  "docs/browsers.md": "lab/records/browsers/results.json",
  "docs/lab/method.md": "lab/records/runs.json",
};

if (isProgram(import.meta)) {
  const write = process.argv.includes("--write");
  const found = [];
  let tables = 0;
  for (const [name, record] of Object.entries(pages)) {
    const path = new URL(`../../${name}`, import.meta.url);
    const text = readFileSync(path, "utf8");
    const results = JSON.parse(readFileSync(new URL(`../../${record}`, import.meta.url), "utf8"));
    const { page, problems, count } = fill(text, results);
    tables += count;
    found.push(...problems.map((problem) => `${name}: ${problem}`));
    if (page === text) continue;
    if (write) writeFileSync(path, page);
    else found.push(`${name}: its figures are not those of ${record}; run: node scripts/figures/page.mjs --write`);
  }
  report(found, `${tables} tables show the kept runs`);
}
