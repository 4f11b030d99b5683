// SPDX-License-Identifier: MIT OR Apache-2.0
// `node scripts/figures/experiments.mjs`: checks that docs/experiments.md, the page of each experiment in docs/experiments and
// docs/lab/swift.md show the kept run of the published experiments, lab/records/published. `--write` writes the pages. Uses the lab's dist
// (make build), which has the code of the report's tables.
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { gunzipSync } from "node:zlib";
import { isProgram, report } from "../problems.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));
const RUN = "lab/records/published";

/** The pages of the experiments, in their order. */
const NAMES = ["1-students", "2-memset", "3-live-stream", "4-channels", "5-executors"];

/** Splits the figures of all experiments. Returns the generated part of each page as `[page, mark, part]`. */
export function partsOf(markdown) {
  const [head, ...experiments] = markdown.split(/^## (?=\d)/m);
  const list = experiments.map((text, at) => {
    const [title, , question] = text.split("\n");
    return `- [${title}](experiments/${NAMES[at]}.md): ${question.replaceAll("**", "")}`;
  });
  return [
    ["docs/experiments.md", "experiments", head + list.join("\n")],
    ...experiments.map((text, at) => [
      `docs/experiments/${NAMES[at]}.md`,
      "experiment",
      text
        .slice(text.indexOf("\n") + 2)
        .trimEnd()
        .replace(/^###/gm, "##"),
    ]),
  ];
}

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
  const pages = [
    ...partsOf(lab.experimentsMarkdown(record)),
    ["docs/lab/swift.md", "swift-stream", lab.swiftStreamMarkdown(record)],
  ];
  for (const [page, mark, part] of pages) {
    const file = path.join(root, page);
    const text = readFileSync(file, "utf8");
    const expected = pageWith(part, text, mark);
    if (expected === text) continue;
    if (process.argv.includes("--write")) writeFileSync(file, expected);
    else problems.push(`${page} differs from the run in ${RUN}; run: node scripts/figures/experiments.mjs --write`);
  }
  report(problems, `${pages.length} pages show the kept run`);
}
