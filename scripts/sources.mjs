// SPDX-License-Identifier: MIT OR Apache-2.0
// Lists the files of this repository: the files that git tracks, and new files that git does not ignore. Without git (in a downloaded ZIP),
// lists all files outside the folders that builds write.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("..", import.meta.url));

/** The licence texts in the root. */
export const licences = ["LICENSE", "LICENSE-MIT", "LICENSE-APACHE"];

/** Returns the sorted paths relative to `folder`, by default the root, that match `pattern`. */
export function paths(pattern = /./, folder = root) {
  return (tracked(folder) ?? walked(folder))
    .filter((path) => pattern.test(path) && existsSync(join(folder, path)))
    .sort();
}

/** Returns the files of the git repository in `folder`, or undefined without git or without a repository. */
function tracked(folder) {
  const args = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
  const { status, stdout } = spawnSync("git", args, { cwd: folder, encoding: "utf8", maxBuffer: 1 << 26 });
  return status === 0 ? stdout.split("\0").filter((path) => path !== "") : undefined;
}

/** The folders in .gitignore, which builds and installations write. */
const written = new Set([".git", "node_modules", "dist", "out", ".cache", "target", "built", ".build"]);

/** Returns the paths of all files under `folder`, relative to `folder`. Leaves out the folders that builds write. */
export function walked(folder, under = "") {
  return readdirSync(join(folder, under), { withFileTypes: true }).flatMap((entry) => {
    const path = under === "" ? entry.name : `${under}/${entry.name}`;
    if (!entry.isDirectory()) return /\.tgz$|^(ts|native\/crates)\/[\w-]+\/LICENSE/.test(path) ? [] : [path];
    const build = entry.name === "build" && path.startsWith("native/");
    return written.has(entry.name) || build ? [] : walked(folder, path);
  });
}

/** Returns the files in `folder`, by default the root, whose paths match `pattern`, as `[{ path, text }]`. */
export function files(pattern, folder = root) {
  return paths(pattern, folder).map((path) => ({ path, text: readFileSync(join(folder, path), "utf8") }));
}

/** Matches the files that people write in a language with comments. */
export const source =
  /\.(ts|tsx|mts|cts|js|mjs|cjs|css|html|sh|rs|c|h|kt|java|swift)$|(^|\/)(Makefile|Cargo\.toml|pom\.xml)$|^\.ci\/run$/;

/** Matches files of that kind that programs write: the pages of the kept runs. */
export const generated = /^lab\/records\//;
