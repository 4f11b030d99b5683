// SPDX-License-Identifier: MIT OR Apache-2.0
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../sources.mjs";

/** Returns the notes of `version` as Markdown: the section "Unreleased" of CHANGELOG.md. Throws an Error if it is missing or empty. */
export function notes(version, at = root) {
  const text = readFileSync(join(at, "CHANGELOG.md"), "utf8");
  const [, after = ""] = text.split("\n## Unreleased\n");
  const section = after.split("\n## ")[0].trim();
  if (section === "") throw new Error('CHANGELOG.md has no changes under "## Unreleased"');
  return `# Changes in ${version}\n\n${section}\n`;
}
