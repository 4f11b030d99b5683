// SPDX-License-Identifier: MIT OR Apache-2.0
// Makes source archives for a release. The same files give the same bytes: entries are sorted, and their times are those of the last commit.
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { licences, paths, root } from "../sources.mjs";

/** What is missing for an archive, and the command that adds it; undefined if nothing is missing. */
export function archiveNeeds() {
  const { status } = spawnSync("tar", ["--version"]);
  return status === 0 ? undefined : "tar is missing. Add it with: apt-get install tar gzip";
}

/** Throws an Error unless a file of the sources has the release's version. */
export function requireVersion(file, found, version) {
  if (found !== version)
    throw new Error(`${file} must have the version of the release: version=${found}, release=${version}`);
}

/** Runs a program to its end. Throws an Error with its output if it fails. */
export function run(program, args, options = {}) {
  const { status, error, stdout, stderr } = spawnSync(program, args, {
    encoding: "utf8",
    maxBuffer: 1 << 26,
    ...options,
  });
  if (error || status !== 0)
    throw new Error(
      `${program} ${args.join(" ")} failed: ${error?.message ?? `status ${status}\n${stdout ?? ""}${stderr ?? ""}`}`,
    );
  return stdout;
}

/**
 * Copies the files of the repository below `from` to the folder `to`. Leaves out what git ignores, and what `keep` refuses. A link becomes a
 * copy of its file.
 */
export function copyTracked(from, to, keep = () => true) {
  const prefix = `${from}/`;
  for (const path of paths().filter((each) => each.startsWith(prefix) && keep(each))) {
    const target = join(to, path.slice(prefix.length));
    mkdirSync(dirname(target), { recursive: true });
    copyFileSync(join(root, path), target);
  }
}

/** Copies the texts of the licences to the folder `to`. */
export function copyLicences(to) {
  for (const name of licences) copyFileSync(join(root, name), join(to, name));
}

/** Returns the options with which GNU tar writes the same bytes for the same files. Other tars have no such options. */
function reproducible() {
  if (!run("tar", ["--version"]).includes("GNU")) return [];
  const { status, stdout } = spawnSync("git", ["log", "-1", "--format=%ct"], { cwd: root, encoding: "utf8" });
  const mtime = status === 0 && /^\d+\s*$/.test(stdout) ? stdout.trim() : "0";
  return ["--sort=name", `--mtime=@${mtime}`, "--owner=0", "--group=0", "--numeric-owner", "--mode=u+rw,go+r,go-w"];
}

/**
 * Writes `NAME.tar.gz` to `outDir`. `fill` receives the folder whose files the archive has, under the folder `NAME`. Returns the path of the
 * archive.
 */
export function makeArchive(outDir, name, fill) {
  const made = mkdtempSync(join(tmpdir(), "clearway-archive-"));
  try {
    const folder = join(made, name);
    mkdirSync(folder);
    fill(folder);
    mkdirSync(outDir, { recursive: true });
    const archive = join(outDir, `${name}.tar.gz`);
    run("tar", ["-czf", archive, ...reproducible(), "-C", made, name]);
    return archive;
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
}
