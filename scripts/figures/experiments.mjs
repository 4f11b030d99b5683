// SPDX-License-Identifier: MIT OR Apache-2.0
// `node scripts/figures/experiments.mjs`: checks that docs/experiments.md, the page and the charts of each experiment in docs/experiments and
// docs/lab/swift.md show the kept run of the published experiments, lab/records/published. `--write` writes them. Uses the lab's dist
// (make build), which has the code of the report's tables.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
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
  const record = lab.withPresentExperiments(lab.readKept(path.join(root, RUN)));
  const problems = [];
  const read = (name) => (existsSync(path.join(root, name)) ? readFileSync(path.join(root, name), "utf8") : "");
  const pages = [
    ...partsOf(lab.experimentsMarkdown(record)),
    ["docs/lab/swift.md", "swift-stream", lab.swiftStreamMarkdown(record)],
  ].map(([page, mark, part]) => [page, pageWith(part, read(page), mark)]);
  const charts = lab.experimentCharts(record).map(({ file, svg }) => [`docs/experiments/${file}`, svg]);
  const known = charts.map(([name]) => path.basename(name));
  for (const name of readdirSync(path.join(root, "docs/experiments")))
    if (name.endsWith(".svg") && !known.includes(name))
      problems.push(`docs/experiments/${name} is of no table: delete it`);
  for (const [name, expected] of [...pages, ...charts]) {
    if (expected === read(name)) continue;
    if (process.argv.includes("--write")) writeFileSync(path.join(root, name), expected);
    else problems.push(`${name} differs from the run in ${RUN}; run: node scripts/figures/experiments.mjs --write`);
  }
  report(problems, `${pages.length} pages and ${charts.length} charts show the kept run`);
}
