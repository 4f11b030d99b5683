// SPDX-License-Identifier: MIT OR Apache-2.0
// The sizes in the docs are the limits that `make check` enforces.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import limits from "../../.size-limit.mjs";

const page = (name: string): string => readFileSync(new URL(`../../${name}`, import.meta.url), "utf8");
const limitOf = (name: string): string | undefined =>
  limits.find((each) => each.name === name || each.name.split(/,? /)[0] === name)?.limit;

const [whole, core, rest, worker] = [
  "clearway, all that a page loads",
  "clearway",
  "clearway, the rest (loaded while the first worker starts)",
  "clearway/worker",
].map((name) => limitOf(name)!);

test("the README and the comparison have the limits of what a page and its worker load", () => {
  const row = (name: string, begin: string) =>
    page(name)
      .split("\n")
      .find((line) => line.startsWith(`| ${begin}`));
  expect(row("README.md", "size")).toContain(`a page loads at most ${whole}, ${core} of it before`);
  expect(row("README.md", "size")).toContain(`each worker loads ${worker} more |`);
  expect(row("docs/comparison.md", "size")).toContain(`[${core}, ${rest} later](`);
});

test("the guide has the limit of each entry that a page loads", () => {
  const guide = page("docs/guarantees.md");
  expect(guide).toContain(`| the entry \`clearway\` | ${core} |`);
  expect(guide).toContain(`| both in one file, as a bundler without code splitting makes it | ${whole} |`);
  const rows = [...guide.matchAll(/^\| `(clearway\/[a-z/-]+)` \| ([\d.]+ KB)/gm)];
  expect(rows.length).toBeGreaterThan(10);
  for (const [, entry, limit] of rows) expect([entry, limit]).toEqual([entry, limitOf(entry!)]);
});
