// SPDX-License-Identifier: MIT OR Apache-2.0
// The files of this repository: what git tracks, and what is new and not ignored.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("..", import.meta.url));

/** Paths relative to the root, in order, optionally only those that match. */
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

/** The same as `[{ path, text }]`. */
export function files(pattern) {
  return paths(pattern).map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));
}

/** Written by people, in a language with comments. */
export const source =
  /\.(ts|tsx|mts|cts|js|mjs|cjs|css|html|sh|rs|c|h|kt|java)$|(^|\/)(Makefile|Cargo\.toml|pom\.xml)$|^\.ci\/run$/;
