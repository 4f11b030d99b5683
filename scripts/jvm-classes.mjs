// SPDX-License-Identifier: MIT OR Apache-2.0
// Compiles the classes of jvm/ once for all their users: the tests on each JDK, and the conformance programs.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { chosen, folder, jdks, maven } from "./maven.mjs";
import { paths, root } from "./sources.mjs";

/** The file that names the compiled modules, with the fingerprint of the sources and JDKs that they were compiled from. */
const stamp = join(folder, "target/classes.sha256");

/** Returns the fingerprint of the sources and the JDKs. */
function fingerprint(found) {
  const hash = createHash("sha256").update(JSON.stringify([chosen(found).builds, Math.max(0, ...found.keys())]));
  const made = paths().filter((path) => /^jvm\/(pom\.xml$|[^/]+\/(pom\.xml$|src\/))/.test(path));
  for (const path of made.filter((path) => existsSync(join(root, path)))) {
    hash
      .update(path)
      .update("\0")
      .update(readFileSync(join(root, path)));
  }
  return hash.digest("hex");
}

const folders = () => readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
const targets = (kind) => folders().filter(({ name }) => existsSync(join(folder, name, "target", kind)));

function stand(print) {
  if (!existsSync(stamp)) return false;
  const [left, ...names] = readFileSync(stamp, "utf8").trim().split("\n");
  const tested = (name) =>
    !existsSync(join(folder, name, "src/test")) || existsSync(join(folder, name, "target/test-classes"));
  const compiled = (name) => existsSync(join(folder, name, "target/classes")) && tested(name);
  return left === print && names.length > 0 && names.every(compiled);
}

/** Returns whether the last build succeeded with the current sources and JDKs, and its classes are still there. */
export const areCompiled = (found) => stand(fingerprint(found));

/** Compiles all modules and their tests unless this has been done. Returns Maven's exit status, or 127 without a JDK. */
export function compile(found = jdks()) {
  const print = fingerprint(found);
  if (stand(print)) return 0;
  rmSync(stamp, { force: true });
  // The compiler never deletes classes. A class without a source would still run, so the folders are deleted first.
  for (const kind of ["classes", "test-classes"]) {
    for (const { name } of targets(kind)) rmSync(join(folder, name, "target", kind), { recursive: true });
  }
  // Builds two modules at a time, because more would need more memory. In the phase `process-test-classes`, Maven also copies the libraries
  // that the conformance program needs. The same run checks the format, because a separate run takes 15 s.
  const status = maven(["-Pstress", "process-test-classes", "spotless:check", "-T", "2"], found);
  if (status !== 0) return status;
  mkdirSync(join(folder, "target"), { recursive: true });
  writeFileSync(stamp, `${[print, ...targets("classes").map(({ name }) => name)].join("\n")}\n`);
  return 0;
}

/** Options with which Maven uses the existing classes and compiles nothing. */
export const asTheyStand = [
  "-Dcompiled=true",
  "-Dkotlin.phase=none",
  "-Dkotlin.test.phase=none",
  "-Dmdep.skip=true",
  "-Danimal.sniffer.skip=true",
];
