// SPDX-License-Identifier: MIT OR Apache-2.0
// Lists the files of this repository: those that git tracks, and new ones that it does not ignore.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("..", import.meta.url));

/** Returns sorted paths relative to the root, optionally only those that match. */
export function paths(pattern = /./) {
  const listed = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 1 << 26,
  });
  return listed
    .split("\0")
    .filter((path) => path !== "" && pattern.test(path) && existsSync(join(root, path)))
    .sort();
}

/** Returns the same files as `[{ path, text }]`. */
export function files(pattern) {
  return paths(pattern).map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));
}

/** Files written by people, in a language with comments. */
export const source =
  /\.(ts|tsx|mts|cts|js|mjs|cjs|css|html|sh|rs|c|h|kt|java)$|(^|\/)(Makefile|Cargo\.toml|pom\.xml)$|^\.ci\/run$/;
