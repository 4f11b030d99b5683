// SPDX-License-Identifier: MIT OR Apache-2.0
// Checks that docs/browsers.md prints the table of features.mjs; `--write` updates it.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isProgram, report } from "../problems.mjs";
import { root } from "../sources.mjs";
import { featuresTable } from "./features.mjs";

const begin = "<!-- features: written by `make fmt` from scripts/browsers/features.mjs -->";
const end = "<!-- end of features -->";

/** Returns `page` with its table replaced, or undefined if the markers are missing. */
export function withFeatures(page) {
  const [start, stop] = [page.indexOf(begin), page.indexOf(end)];
  if (start < 0 || stop < start) return undefined;
  return `${page.slice(0, start)}${begin}\n\n${featuresTable()}\n\n${page.slice(stop)}`;
}

if (isProgram(import.meta)) {
  const path = join(root, "docs/browsers.md");
  const page = readFileSync(path, "utf8");
  const right = withFeatures(page);
  const problems = [];
  if (right === undefined) problems.push("docs/browsers.md: the markers of the features are missing");
  else if (right !== page && process.argv.includes("--write")) writeFileSync(path, right);
  else if (right !== page) problems.push("docs/browsers.md: prints other features than features.mjs: make fmt");
  report(problems, "docs/browsers.md prints the features of the engines");
}
