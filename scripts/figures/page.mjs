// SPDX-License-Identifier: MIT OR Apache-2.0
// `node scripts/figures/page.mjs`: checks that the figures in the pages are those of the committed run in lab/records/promises.json.
// `--write` updates the pages.
import { readFileSync, writeFileSync } from "node:fs";
import { isProgram, report } from "../problems.mjs";
import { fill } from "./fill.mjs";

/** The pages with figures. All other pages link to docs/performance.md. */
const pages = ["README.md", "docs/performance.md"];

if (isProgram(import.meta)) {
  const results = JSON.parse(readFileSync(new URL("../../lab/records/promises.json", import.meta.url), "utf8"));
  const write = process.argv.includes("--write");
  const found = [];
  let tables = 0;
  for (const name of pages) {
    const path = new URL(`../../${name}`, import.meta.url);
    const text = readFileSync(path, "utf8");
    const { page, problems, count } = fill(text, results);
    tables += count;
    found.push(...problems.map((problem) => `${name}: ${problem}`));
    if (page === text) continue;
    if (write) writeFileSync(path, page);
    else
      found.push(
        `${name}: its figures are not those of lab/records/promises.json; run: node scripts/figures/page.mjs --write`,
      );
  }
  report(found, `${tables} tables show the kept run`);
}
