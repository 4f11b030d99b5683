// SPDX-License-Identifier: MIT OR Apache-2.0
// What must hold before a release is built, its notes, and the checksums of what was built.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join, sep } from "node:path";
import { root } from "../sources.mjs";
import { writeFiles } from "../write-files.mjs";

const git = (at, ...args) => spawnSync("git", args, { cwd: at, encoding: "utf8", maxBuffer: 1 << 26 });

/** Maximum number of changed files that a message names. */
const namedMax = 5;

/** Returns a problem if the files in `at` differ from a commit, because then no commit says what the release was made from. */
export function treeProblems(at) {
  const { status, stdout } = git(at, "status", "--porcelain");
  if (status !== 0) return ["this folder has no git repository, so no commit says what the release is made from"];
  const changed = stdout.split("\n").filter((line) => line !== "");
  if (changed.length === 0) return [];
  const named = changed.slice(0, namedMax).map((line) => line.slice(3));
  const more = changed.length > namedMax ? ` and ${changed.length - namedMax} more` : "";
  return [`${changed.length} files are not committed: ${named.join(", ")}${more}`];
}

/** Returns the commit of `at` and its time, `{ commit, time }`. Without git, both are undefined. */
export function commitOf(at) {
  const { status, stdout } = git(at, "log", "-1", "--format=%H %cI");
  const [commit, time] = status === 0 ? stdout.trim().split(" ") : [];
  return { commit, time };
}

/** Returns the paths of all files under `folder`, relative to it, sorted. */
export function filesIn(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(folder.length + 1))
    .map((path) => path.split(sep).join("/"))
    .sort();
}

/** Writes SHA256SUMS, with the checksum of every file under `folder`, in the form that `sha256sum -c` reads. */
export function writeChecksums(folder) {
  const lines = filesIn(folder)
    .filter((path) => path !== "SHA256SUMS")
    .map(
      (path) =>
        `${createHash("sha256")
          .update(readFileSync(join(folder, path)))
          .digest("hex")}  ${path}\n`,
    );
  writeFiles({ [join(folder, "SHA256SUMS")]: lines.join("") });
}

/** Returns the notes of `version` as Markdown: the section "Unreleased" of CHANGELOG.md. Throws an Error if it is missing or empty. */
export function notes(version, at = root) {
  const text = readFileSync(join(at, "CHANGELOG.md"), "utf8");
  const [, after = ""] = text.split("\n## Unreleased\n");
  const section = after.split("\n## ")[0].trim();
  if (section === "") throw new Error('CHANGELOG.md has no changes under "## Unreleased"');
  return `# Changes in ${version}\n\n${section}\n`;
}
