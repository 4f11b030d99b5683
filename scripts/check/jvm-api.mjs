// SPDX-License-Identifier: MIT OR Apache-2.0
// Compares the committed public API of each module in jvm/, in its file `api/MODULE.api`, with the API of the compiled classes. Kotlin's
// binary-compatibility-validator prints both. `--write` replaces the committed files.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compile } from "../jvm-classes.mjs";
import { published } from "../jvm-publish.mjs";
import { chosen, folder, jdks, missing } from "../maven.mjs";
import { isProgram, report } from "../problems.mjs";
import { root } from "../sources.mjs";

const committed = (name) => `jvm/${name}/api/${name}.api`;
const textOf = (path) => (existsSync(path) ? readFileSync(path, "utf8") : undefined);

/** Writes the API of the compiled modules to `to`. Throws an Error if that fails. */
function dump(java, names, to) {
  const path = ["classes", "lib/*"].map((part) => join(folder, "api/target", part)).join(":");
  const modules = names.flatMap((name) => [name, join(folder, name, "target/classes")]);
  const { status, stderr } = spawnSync(java, ["-cp", path, "clearway.api.Dump", to, ...modules], { encoding: "utf8" });
  if (status !== 0) throw new Error(`the API of jvm/ could not be read: ${stderr}`);
}

/** Returns a problem for each module whose committed API, below `at`, differs from `from`. With `write`, replaces it instead. */
export function compare(names, from, { write = false, at = root } = {}) {
  const problems = [];
  for (const name of names) {
    const [path, built] = [join(at, committed(name)), join(from, `${name}.api`)];
    if (textOf(path) === textOf(built)) continue;
    if (write) {
      mkdirSync(join(path, ".."), { recursive: true });
      cpSync(built, path);
      continue;
    }
    const diff = ["diff", "--no-index", "--no-color", "--", existsSync(path) ? path : "/dev/null", built];
    spawnSync("git", diff, { cwd: root, stdio: ["ignore", "inherit", "inherit"] });
    problems.push(`${committed(name)} is not what was compiled; look at the difference, then: make fmt`);
  }
  return problems;
}

if (isProgram(import.meta)) {
  const found = jdks();
  const { builds } = chosen(found);
  if (builds === undefined) {
    console.log(`the API of jvm/ is not compared: ${missing.jdk}`);
  } else if (compile(found) !== 0) {
    report(["jvm/ does not compile: node scripts/jvm.mjs compile"], "");
  } else {
    const names = published(found);
    const to = mkdtempSync(join(tmpdir(), "clearway-jvm-api-"));
    try {
      dump(join(found.get(builds), "bin/java"), names, to);
      const problems = compare(names, to, { write: process.argv.includes("--write") });
      report(problems, `${names.length} modules of jvm/ have the API as committed`);
    } finally {
      rmSync(to, { recursive: true, force: true });
    }
  }
}
