#!/usr/bin/env node
// SPDX-License-Identifier: MIT OR Apache-2.0
// `node scripts/jvm-lab.mjs`: compiles the lab's runner for the JVM, and leaves in jvm/lab/target/runner.json with what, and
// on which JDKs, the lab can start it. Quick when nothing has changed. Exit status 1, and a plain word, where it cannot.
import { createHash } from "node:crypto";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { folder, jdks, maven } from "./jvm.mjs";
import { isProgram } from "./problems.mjs";
import { paths, root } from "./sources.mjs";

/** What the runner is made of; the lab's module is last. */
const modules = ["executor", "channel", "lab"];
const target = join(folder, "lab/target");
const file = join(target, "runner.json");

function fingerprint() {
  const hash = createHash("sha256");
  const parts = ["jvm/pom.xml", ...modules.flatMap((name) => [`jvm/${name}/pom.xml`, `jvm/${name}/src/main/`])];
  for (const path of paths().filter((path) => parts.some((part) => path.startsWith(part))))
    hash
      .update(path)
      .update("\0")
      .update(readFileSync(join(root, path)));
  return hash.digest("hex");
}

const classes = modules.map((name) => join(folder, name, "target/classes"));

/** What the last build left, where that still stands. */
function built(print) {
  if (!existsSync(file)) return undefined;
  const left = JSON.parse(readFileSync(file, "utf8"));
  return left.print === print && left.classpath.every((path) => existsSync(path)) ? left : undefined;
}

/** Returns whether the runner stands. */
export function buildRunner() {
  const found = jdks();
  const print = fingerprint();
  let classpath = built(print)?.classpath;
  if (classpath === undefined) {
    rmSync(file, { force: true });
    console.log("build: the lab's runner for the JVM");
    if (maven(["process-classes", "-pl", modules.at(-1), "-am"], found) !== 0) return false;
    const libraries = readFileSync(join(target, "runtime.classpath"), "utf8").trim().split(delimiter);
    // In one build Maven names a module by its folder of classes, in another by a jar that nobody has made.
    classpath = [...classes, ...libraries.filter((path) => !classes.includes(path) && path.endsWith(".jar"))];
  }
  writeFileSync(file, JSON.stringify({ print, classpath, jdks: Object.fromEntries(found) }, null, 2));
  return true;
}

if (isProgram(import.meta)) process.exitCode = buildRunner() ? 0 : 1;
