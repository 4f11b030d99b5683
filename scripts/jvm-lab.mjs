#!/usr/bin/env node
// SPDX-License-Identifier: MIT OR Apache-2.0
// `node scripts/jvm-lab.mjs`: compiles the lab's runner for the JVM. Writes jvm/lab/target/runner.json, which says how the lab starts the
// runner and on which JDKs. It is quick if nothing has changed. On failure, prints the reason and exits with status 1.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { areCompiled } from "./jvm-classes.mjs";
import { chosen, folder, hasForeign, jdks, maven } from "./maven.mjs";
import { libclearway, plugins } from "./native.mjs";
import { isProgram } from "./problems.mjs";
import { paths, root } from "./sources.mjs";

/** The modules of the runner; the lab's own module is last. The modules in `foreign` need a JDK 22 or newer. */
const modules = ["executor", "channel", "lab"];
const foreign = ["native", "lab-foreign"];
const all = [...modules, ...foreign];
const target = join(folder, "lab/target");
const file = join(target, "runner.json");

function fingerprint() {
  const hash = createHash("sha256");
  const parts = ["jvm/pom.xml", ...all.flatMap((name) => [`jvm/${name}/pom.xml`, `jvm/${name}/src/main/`]), plain];
  for (const path of paths().filter((path) => parts.some((part) => path.startsWith(part))))
    hash
      .update(path)
      .update("\0")
      .update(readFileSync(join(root, path)));
  return hash.digest("hex");
}

const classesOf = (names) => names.map((name) => join(folder, name, "target/classes"));

/**
 * The C sources of the native peers, which are the functions that the lab compares with plugins: plain C, and calls through JNI. The library
 * also has the count of allocations.
 */
const plain = "ts/clearway-lab/native/plain.c";
const sources = [plain, "jvm/lab/src/main/c/peers.c", "jvm/lab/src/main/c/allocations.c"];
const peers = join(target, "native", process.platform === "darwin" ? "libpeers.dylib" : "libpeers.so");

/** Compiles the native peers. On failure, prints the reason. The cells that need the peers then report that they are missing. */
function compilePeers(jdk) {
  rmSync(peers, { force: true });
  if (process.platform !== "linux") return console.error("jvm-lab: the native peers are written for Linux; left out");
  const include = join(jdk, "include");
  mkdirSync(join(target, "native"), { recursive: true });
  const files = sources.map((path) => join(root, path));
  const flags = ["-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", `-I${include}`, `-I${include}/linux`];
  const { status, error } = spawnSync(process.env.CC || "cc", [...flags, ...files, "-o", peers], { stdio: "inherit" });
  if (error) console.error("jvm-lab: no C compiler; the native peers are left out. Debian: apt-get install gcc");
  else if (status !== 0) rmSync(peers, { force: true });
}

/** Returns the last build if it is still valid. */
function built(print) {
  if (!existsSync(file)) return undefined;
  const left = JSON.parse(readFileSync(file, "utf8"));
  return left.print === print && left.classpath.every((path) => existsSync(path)) ? left : undefined;
}

/** The system properties with the paths of native files. A file may be missing; the cells that need it then report that. */
const properties = {
  "clearway.lab.peers": peers,
  "clearway.lab.plugin": plugins.c.example,
  "clearway.library": libclearway,
};

/** The file in which Maven writes the runner's class path. */
const librariesFile = join(target, "runtime.classpath");

/** Compiles the runner's modules, unless a full build has already done so. Returns whether they are compiled. */
function compileOwn(own, found) {
  if (areCompiled(found) && existsSync(librariesFile)) return true;
  return maven(["process-classes", "-pl", own === all ? "lab,lab-foreign" : "lab", "-am"], found) === 0;
}

/** Builds the runner. Returns whether it exists. */
export function buildRunner() {
  const found = jdks();
  const own = hasForeign(found) ? all : modules;
  const print = `${fingerprint()} ${own.length}`;
  let classpath = built(print)?.classpath;
  if (classpath === undefined) {
    rmSync(file, { force: true });
    console.log("build: the lab's runner for the JVM");
    if (!compileOwn(own, found)) return false;
    const libraries = readFileSync(librariesFile, "utf8").trim().split(delimiter);
    // Depending on the build, Maven's class path has a module's folder of classes, or a jar that does not exist.
    const classes = classesOf(own);
    classpath = [...classes, ...libraries.filter((path) => !classes.includes(path) && path.endsWith(".jar"))];
    compilePeers(found.get(chosen(found).builds));
  }
  writeFileSync(file, JSON.stringify({ print, classpath, properties, jdks: Object.fromEntries(found) }, null, 2));
  return true;
}

if (isProgram(import.meta)) process.exitCode = buildRunner() ? 0 : 1;
