// SPDX-License-Identifier: MIT OR Apache-2.0
// `node scripts/figures/experiments.mjs`: checks that docs/experiments.md and docs/lab/swift.md show the kept run of the published experiments,
// lab/records/published. `--write` writes the pages. Uses the lab's dist (make build), which has the code of the report's tables.
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { gunzipSync } from "node:zlib";
import { isProgram, report } from "../problems.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));
const RUN = "lab/records/published";

/** The pages, each with the name of its marks and the function of the lab that writes its generated part. */
const PAGES = [
  { page: "docs/experiments.md", mark: "experiments", markdown: "experimentsMarkdown" },
  { page: "docs/lab/swift.md", mark: "swift-stream", markdown: "swiftStreamMarkdown" },
];

/** Returns a page with another part between its marks. Throws an Error if it has no marks. */
export function pageWith(part, text, mark) {
  const [start, end] = [`<!-- ${mark} -->`, `<!-- /${mark} -->`];
  const [from, to] = [text.indexOf(start), text.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`the page has no part between ${start} and ${end}`);
  return `${text.slice(0, from + start.length)}\n${part}\n${text.slice(to)}`;
}

if (isProgram(import.meta)) {
  const lab = await import(pathToFileURL(path.join(root, "ts/clearway-lab/dist/experiments-page.js")).href);
  const record = lab.withPresentExperiments(
    JSON.parse(gunzipSync(readFileSync(path.join(root, RUN, "record.json.gz"))).toString("utf8")),
  );
  const problems = [];
  for (const { page, mark, markdown } of PAGES) {
    const file = path.join(root, page);
    const text = readFileSync(file, "utf8");
    const expected = pageWith(lab[markdown](record), text, mark);
    if (expected === text) continue;
    if (process.argv.includes("--write")) writeFileSync(file, expected);
    else problems.push(`${page} differs from the run in ${RUN}; run: node scripts/figures/experiments.mjs --write`);
  }
  report(problems, `${PAGES.map(({ page }) => page).join(" and ")} show the kept run`);
}
