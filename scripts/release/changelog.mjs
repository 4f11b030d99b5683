// SPDX-License-Identifier: MIT OR Apache-2.0
// Writes the notes of a release from the changesets. `node scripts/release/changelog.mjs keep`, after a release: moves the changesets into a
// page of docs/changes.
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { isProgram } from "../problems.mjs";
import { root } from "../sources.mjs";
import { writeFiles } from "../write-files.mjs";
import { current } from "./versions.mjs";

// The types of its ES module have the function at another place than the module has it.
const { default: readChangesets } = createRequire(import.meta.url)("@changesets/read");

const sections = [
  ["major", "Changes that break existing code"],
  ["minor", "New"],
  ["patch", "Corrections"],
];

const rank = (type) => sections.findIndex(([each]) => each === type);

const orderOf = ({ packages, id }) => `${packages.join()} ${id}`;

/** Returns the changesets in a fixed order, each with the packages that it names and the largest of its kinds of change. */
async function changesets(at) {
  const all = await readChangesets(at);
  return all
    .map(({ id, summary, releases }) => ({
      id,
      summary: summary.trim(),
      packages: releases.map(({ name }) => name).sort(),
      type: releases.map(({ type }) => type).sort((a, b) => rank(a) - rank(b))[0] ?? "patch",
    }))
    .sort((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1));
}

/** Returns the notes of `version` as Markdown: one list item for each changeset. */
export async function notes(version, at = root) {
  const all = await changesets(at);
  const lines = [`# Changes in ${version}`, ""];
  if (all.length === 0) lines.push("No changeset describes a change.", "");
  for (const [type, title] of sections) {
    const here = all.filter((each) => each.type === type);
    if (here.length === 0) continue;
    lines.push(`## ${title}`, "");
    for (const { packages, summary } of here) {
      const [first = "", ...rest] = summary.split("\n");
      lines.push(`- **${packages.join(", ")}**: ${first}`, ...rest.map((line) => (line === "" ? "" : `  ${line}`)));
    }
    lines.push("");
  }
  return lines.join("\n");
}

/**
 * Moves the changesets into the page docs/changes/VERSION.md, to which the heading in CHANGELOG.md links from then on. Returns the page's
 * path. Throws an Error if there are no changesets, if the page exists, or if CHANGELOG.md has no heading for the version.
 */
export async function keep(version, at = root) {
  const page = `docs/changes/${version}.md`;
  const all = await changesets(at);
  if (all.length === 0) throw new Error("there are no changesets to keep");
  if (existsSync(join(at, page))) throw new Error(`${page} exists; its version was released`);
  const heading = `## Not yet released (${version})`;
  const summary = readFileSync(join(at, "CHANGELOG.md"), "utf8");
  if (!summary.includes(heading)) throw new Error(`CHANGELOG.md has no heading "${heading}"`);
  const text = await notes(version, at);
  mkdirSync(join(at, "docs/changes"), { recursive: true });
  writeFiles({
    [join(at, page)]: text,
    [join(at, "CHANGELOG.md")]: summary.replace(heading, `## ${version}\n\n[All changes](${page}).`),
  });
  for (const { id } of all) rmSync(join(at, ".changeset", `${id}.md`));
  return page;
}

if (isProgram(import.meta)) {
  const [command] = process.argv.slice(2);
  if (command === "keep") console.log(`  ${await keep(current())}`);
  else process.stdout.write(await notes(current()));
}
