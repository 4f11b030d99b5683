// SPDX-License-Identifier: MIT OR Apache-2.0
// Compiles the classes of jvm/ once for all their users: the tests on each JDK, and the conformance programs.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { chosen, folder, hasForeign, jdks, maven, mavenWithOutput } from "./maven.mjs";
import { paths, root } from "./sources.mjs";

/** The module whose format is checked, but which only scripts/jvm-stress.mjs compiles. */
const unbuilt = "stress";

/** Each module's file with the fingerprint of what its classes were compiled from. The profile `kept` of jvm/pom.xml looks for it. */
const stampOf = (name) => join(folder, name, "target/compiled.sha256");

/** Returns the artifacts of jvm/ that a pom needs, as `[artifact, tests]`. `tests` says whether it needs their test classes. */
function needs(pom) {
  const blocks = pom.match(/<dependency>.*?<\/dependency>/gs) ?? [];
  return blocks.flatMap((block) => {
    const artifact = /<artifactId>(clearway-[^<]+)</.exec(block)?.[1];
    return artifact === undefined ? [] : [[artifact, /<type>test-jar</.test(block)]];
  });
}

/** Returns two maps: from the folders of modules to their poms, and from artifacts to these folders. */
function modules(files) {
  const poms = new Map();
  const folders = new Map();
  for (const [path, content] of files) {
    const name = /^([^/]+)\/pom\.xml$/.exec(path)?.[1];
    if (name === undefined) continue;
    poms.set(name, content.toString());
    folders.set(/<\/parent>\s*<artifactId>([^<]+)</.exec(poms.get(name))?.[1], name);
  }
  return { poms, folders };
}

/**
 * Returns the folders of the modules that a failed build with `--fail-at-end` has not compiled: those that Maven's output names, and all that
 * need them. Returns all modules if the output names none.
 */
export function uncompiled(files, output) {
  const { poms, folders } = modules(files);
  const named = [...output.matchAll(/^\[ERROR\] Failed to execute goal .* on project ([^:\s]+):/gm)];
  const failed = new Set(named.map(([, artifact]) => folders.get(artifact)).filter(Boolean));
  if (failed.size === 0) return new Set(poms.keys());
  for (let before = 0; before < failed.size; ) {
    before = failed.size;
    for (const [name, pom] of poms)
      if (needs(pom).some(([artifact]) => failed.has(folders.get(artifact)))) failed.add(name);
  }
  return failed;
}

/**
 * Returns a map from the folders of modules to fingerprints of all that decides what their classes are: their poms and sources, the sources
 * of the modules that they need, and `setting`. `files` are `[path, content]`, with paths relative to jvm/. A change of a module's tests
 * does not change the fingerprints of modules that need only its main classes. Throws an Error if a pom needs a module that does not exist.
 */
export function fingerprints(files, setting) {
  const { poms, folders } = modules(files);
  const sums = new Map();
  const sum = (name, tests) => {
    const key = `${name} ${tests}`;
    if (sums.has(key)) return sums.get(key);
    const hash = createHash("sha256").update(setting);
    const own = ["pom.xml", `${name}/pom.xml`];
    for (const [path, content] of files) {
      const source = path.startsWith(`${name}/src/`) && (tests || !path.startsWith(`${name}/src/test/`));
      if (source || own.includes(path)) hash.update(`${path}\0${content.length}\0`).update(content);
    }
    for (const [artifact, itsTests] of needs(poms.get(name))) {
      if (!folders.has(artifact))
        throw new Error(`no module of jvm/ has the artifact ${artifact}, which ${name} needs`);
      if (tests || !itsTests) hash.update(sum(folders.get(artifact), itsTests));
    }
    sums.set(key, hash.digest("hex"));
    return sums.get(key);
  };
  return new Map([...poms.keys()].map((name) => [name, sum(name, true)]));
}

/** Returns the poms and sources of jvm/, as `[path, content]`. */
function sources() {
  const made = paths().filter((path) => /^jvm\/(pom\.xml$|[^/]+\/(pom\.xml$|src\/))/.test(path));
  return made.map((path) => [path.slice("jvm/".length), readFileSync(join(root, path))]);
}

/** Returns the fingerprints of the modules that these JDKs can build. */
function prints(found) {
  const all = fingerprints(sources(), JSON.stringify([chosen(found).builds, Math.max(0, ...found.keys())]));
  const foreign = (name) => /\$\{foreign\.jdk\}/.test(readFileSync(join(folder, name, "pom.xml"), "utf8"));
  return new Map([...all].filter(([name]) => hasForeign(found) || !foreign(name)));
}

/** Returns whether the last compilation of a module had this fingerprint, and its classes are still there. */
function current(name, print) {
  if (!existsSync(stampOf(name)) || readFileSync(stampOf(name), "utf8").trim() !== print) return false;
  const has = (path) => existsSync(join(folder, name, path));
  const lost = (source, classes) => has(`src/${source}`) && !has(`target/${classes}`);
  return name === unbuilt || !(lost("main", "classes") || lost("test", "test-classes"));
}

/** Returns whether the module in this folder was compiled from the current sources with these JDKs, and its classes are still there. */
export const isCompiled = (name, found) => current(name, prints(found).get(name));

/** Returns whether all modules were compiled from the current sources with these JDKs, and the classes are still there. */
export const areCompiled = (found) => [...prints(found)].every(([name, print]) => current(name, print));

/**
 * Deletes the classes of the modules whose sources, or those of a module that they need, have changed. The compiler never deletes classes, and
 * a class without a source would still run. Returns these modules with their fingerprints, as `[name, print]`.
 */
export function deleteStale(found) {
  const stale = [...prints(found)].filter(([name, print]) => !current(name, print));
  for (const [name] of stale) {
    rmSync(stampOf(name), { force: true });
    for (const kind of ["classes", "test-classes"])
      rmSync(join(folder, name, "target", kind), { recursive: true, force: true });
  }
  return stale;
}

/**
 * Compiles each module with its tests, unless neither its sources nor those of the modules that it needs have changed. Returns Maven's exit
 * status, or 127 without a JDK. A module that fails keeps no other module from being compiled, unless that one needs it.
 */
export function compile(found = jdks()) {
  const stale = deleteStale(found);
  if (stale.length === 0) return 0;
  // Builds two modules at a time, because more would need more memory. In the phase `process-test-classes`, Maven also copies the libraries
  // that the conformance program needs.
  const args = ["process-test-classes", "--fail-at-end", "-T", "2", ...asTheyStand];
  const { status, output } = mavenWithOutput(args, found);
  const failed = status === 0 ? new Set() : uncompiled(sources(), output);
  for (const [name, print] of stale) {
    if (failed.has(name)) continue;
    mkdirSync(dirname(stampOf(name)), { recursive: true });
    writeFileSync(stampOf(name), `${print}\n`);
  }
  return status;
}

/**
 * Checks the format of all modules, including the one that no other build contains. Returns Maven's exit status, or 0 at once if no source has
 * changed since the last check that passed. A wrong format does not stop {@link compile}.
 */
export function checkFormat(found = jdks()) {
  const stamp = join(folder, "target/formatted.sha256");
  const print = createHash("sha256")
    .update(JSON.stringify([...prints(found)]))
    .digest("hex");
  if (existsSync(stamp) && readFileSync(stamp, "utf8").trim() === print) return 0;
  const status = format("check", found);
  if (status !== 0) return status;
  mkdirSync(dirname(stamp), { recursive: true });
  writeFileSync(stamp, `${print}\n`);
  return 0;
}

/** Runs the goal `apply` or `check` of Spotless, the formatter, in all modules. Returns Maven's exit status. */
export const format = (goal, found = jdks()) => maven(["-Pstress", `spotless:${goal}`], found);

/** The option with which Maven uses the existing classes of every module that has a stamp, and does not compile it. */
export const asTheyStand = ["-Dkept"];
