// SPDX-License-Identifier: MIT OR Apache-2.0
// Builds a release: everything that is published, in one folder.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { isAbsolute, join, relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { writeFiles } from "../write-files.mjs";
import { commitOf, treeProblems, writeChecksums } from "./checks.mjs";
import { current, disagreements } from "./version.mjs";

/** A release that was refused. Each of `problems` is a sentence for the user. */
export class ReleaseError extends Error {
  constructor(problems) {
    super(problems.join("\n"));
    this.name = "ReleaseError";
    this.problems = problems;
  }
}

/**
 * Returns the parts of a release, one per ecosystem: the `part` of every module in `folder` that exports one. A part is
 * `{ name, needs(), build(outDir, version) }`. `needs` returns what is missing for it, or undefined. `build` resolves with the paths of its files.
 */
export async function partsIn(folder) {
  const parts = [];
  for (const name of readdirSync(folder).sort()) {
    const path = join(folder, name);
    if (!name.endsWith(".mjs") || !/^export const part\b/m.test(readFileSync(path, "utf8"))) continue;
    parts.push((await import(pathToFileURL(path).href)).part);
  }
  return parts;
}

/** Returns the parts to build and those to leave out, each with what is missing. Throws a ReleaseError for a named part that cannot be built. */
export function choose(parts, only = []) {
  const unknown = only.filter((name) => !parts.some((part) => part.name === name));
  const names = parts.map(({ name }) => name).join(", ");
  const problems = unknown.map((name) => `no part of a release is called ${name}: ${names}`);
  const chosen = [];
  const leftOut = [];
  for (const part of parts.filter(({ name }) => only.length === 0 || only.includes(name))) {
    const missing = part.needs();
    if (missing === undefined) chosen.push(part);
    else if (only.length > 0) problems.push(`${part.name} cannot be built: ${missing}`);
    else leftOut.push({ name: part.name, missing });
  }
  if (problems.length > 0) throw new ReleaseError(problems);
  return { chosen, leftOut };
}

/** Returns a problem for each file of a part that is not in the part's folder. */
function fileProblems({ name }, folder, files) {
  if (!Array.isArray(files) || files.length === 0) return [`${name} built no files`];
  return files
    .map((file) => resolve(folder, file))
    .filter((file) => {
      const inside = relative(folder, file);
      return inside.startsWith("..") || isAbsolute(inside) || !existsSync(file) || !statSync(file).isFile();
    })
    .map((file) => `${name} has no such file in its folder: ${file}`);
}

/** Empties the folder `out`. Refuses one with files that no release wrote. */
function prepare(out, isOurs) {
  const foreign = existsSync(out) && readdirSync(out).length > 0 && !existsSync(join(out, "release.json"));
  if (foreign && !isOurs) throw new ReleaseError([`${out} has other files; name an empty folder or that of a release`]);
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
}

/**
 * Builds a release of the repository in `root` into the folder `out`. `documents` returns the texts of more files, by their names. Returns
 * `{ version, leftOut }`. Throws a ReleaseError if the versions differ, if files are not committed, or if a part fails its checks.
 * @param {{ root: string, out: string, parts: any[], only?: string[], allowDirty?: boolean, isDefault?: boolean, build?: () => void,
 *   documents?: (version: string, time: string | undefined) => Promise<Record<string, string>> }} options
 */
export async function release({
  root,
  out,
  parts,
  only = [],
  allowDirty = false,
  isDefault = false,
  build = () => {},
  documents = async () => ({}),
}) {
  const problems = [...disagreements(root), ...(allowDirty ? [] : treeProblems(root))];
  if (problems.length > 0) throw new ReleaseError(problems);
  const version = current(root);
  const { chosen, leftOut } = choose(parts, only);
  prepare(out, isDefault);
  build();
  const isDirty = treeProblems(root).length > 0;
  if (isDirty && !allowDirty) throw new ReleaseError(["the build changed files", ...treeProblems(root)]);
  const { commit, time } = commitOf(root);
  const facts = { version, commit, time, isDirty, parts: chosen.map(({ name }) => name), leftOut };
  writeFiles({ [join(out, "release.json")]: `${JSON.stringify(facts, null, 2)}\n` });
  for (const part of chosen) {
    const folder = join(out, part.name);
    mkdirSync(folder);
    const wrong = fileProblems(part, folder, await part.build(folder, version));
    if (wrong.length > 0) throw new ReleaseError(wrong);
  }
  const made = Object.entries(await documents(version, time));
  writeFiles(Object.fromEntries(made.map(([name, text]) => [join(out, name), text])));
  writeChecksums(out);
  return { version, leftOut };
}
