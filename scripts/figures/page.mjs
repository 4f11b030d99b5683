// SPDX-License-Identifier: MIT OR Apache-2.0
// `node scripts/figures/page.mjs`: checks that the figures in the pages are those of the kept runs. `--write` updates them.
import { readFileSync, writeFileSync } from "node:fs";
import { isProgram, report } from "../problems.mjs";
import { fill } from "./fill.mjs";
import { picture } from "./picture.mjs";

/** The pages with figures, and the record of each. All other pages link to docs/performance.md. */
const pages = {
  "README.md": "lab/records/limits/results.json",
  "docs/performance.md": "lab/records/limits/results.json",
  "docs/browsers.md": "lab/records/browsers/results.json",
  "docs/lab/method.md": "lab/records/runs.json",
};

/** The README's picture has the figures of this record. */
const pictures = { "docs/report.svg": "lab/records/limits/results.json" };

const read = (name) => readFileSync(new URL(`../../${name}`, import.meta.url), "utf8");

if (isProgram(import.meta)) {
  const write = process.argv.includes("--write");
  const found = [];
  let tables = 0;
  for (const [name, record] of Object.entries({ ...pages, ...pictures })) {
    const text = read(name);
    const results = JSON.parse(read(record));
    const { page, problems, count } =
      name in pictures ? { page: picture(results), problems: [], count: 0 } : fill(text, results);
    tables += count;
    found.push(...problems.map((problem) => `${name}: ${problem}`));
    if (page === text) continue;
    if (write) writeFileSync(new URL(`../../${name}`, import.meta.url), page);
    else found.push(`${name}: its figures are not those of ${record}; run: node scripts/figures/page.mjs --write`);
  }
  report(found, `${tables} tables show the kept runs`);
}
