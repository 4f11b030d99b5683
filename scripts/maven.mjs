// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs Maven in jvm/ and finds the JDKs of this machine. If one is missing, prints what to install.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const folder = fileURLToPath(new URL("../jvm", import.meta.url));

/** The oldest supported JDK. The bytecode is for this release. */
export const oldest = 17;

/** Instructions for a machine without the JDK that builds or without Maven. */
export const missing = {
  jdk: "a JDK 17 is missing. Add it with: apt-get install -y --no-install-recommends openjdk-17-jdk-headless",
  maven: "Maven is missing. Add it with: apt-get install -y --no-install-recommends maven",
};

/** Folders in which systems and people install JDKs. CLEARWAY_JDKS names more JDKs, separated by `:`. */
const shelves = [
  "/usr/lib/jvm",
  "/Library/Java/JavaVirtualMachines",
  join(process.env.HOME ?? "/", ".sdkman/candidates/java"),
];

/** Returns the feature release (17, 25) of the JDK in `home`, or undefined if there is no JDK with a compiler. */
export function release(home) {
  const facts = join(home, "release");
  if (!existsSync(join(home, "bin/javac")) || !existsSync(facts)) return undefined;
  const version = /^JAVA_VERSION="(\d+)/m.exec(readFileSync(facts, "utf8"));
  return version ? Number(version[1]) : undefined;
}

/**
 * Returns a map from feature releases to the homes of JDKs. Searches JAVA_HOME, CLEARWAY_JDKS, the JDK of the program `javac`, and then
 * `shelves`. If there are several JDKs of one release, the first one found counts.
 */
export function jdks() {
  const homes = [process.env.JAVA_HOME, ...(process.env.CLEARWAY_JDKS ?? "").split(":")].filter(Boolean);
  const javac = spawnSync("sh", ["-c", "command -v javac"], { encoding: "utf8" }).stdout.trim();
  if (javac) homes.push(dirname(dirname(realpathSync(javac))));
  for (const shelf of shelves.filter((path) => existsSync(path))) {
    for (const name of readdirSync(shelf).sort()) homes.push(join(shelf, name), join(shelf, name, "Contents/Home"));
  }
  const found = new Map();
  for (const home of homes) {
    const version = release(home);
    if (version !== undefined && !found.has(version)) found.set(version, home);
  }
  return found;
}

/**
 * Returns two feature releases, `{ builds, newest }`. `builds` compiles, and is the oldest release from 17 on. `newest` also runs the
 * tests, and is the newest other release from 24 on. Either is undefined if there is no such JDK.
 */
export function chosen(found = jdks()) {
  const versions = [...found.keys()].sort((a, b) => a - b);
  const builds = versions.find((version) => version >= oldest);
  const newest = versions.filter((version) => version >= 24 && version !== builds).at(-1);
  return { builds, newest };
}

/** The first release in which java.lang.foreign is final. jvm/native is compiled for it. */
export const foreignMin = 22;

/** Returns whether one of these JDKs has java.lang.foreign. */
export function hasForeign(found) {
  return Math.max(0, ...found.keys()) >= foreignMin;
}

/** Returns the option that builds the modules with java.lang.foreign, on the newest JDK. Without such a JDK, returns no options. */
function foreign(found) {
  if (hasForeign(found)) return [`-Dforeign.jdk=${found.get(Math.max(...found.keys()))}`];
  console.error(`jvm: no JDK ${foreignMin} or newer was found: native plugins are left out`);
  return [];
}

/**
 * Default JVM options for Maven. MAVEN_OPTS in the environment takes precedence. The options leave out the JVM's second compiler, because it
 * costs more than it saves in a run of this length: Kotlin's compiler took 24 s of processor time for the module `executor` without it, and
 * 48 s with it. The first compiler alone needs 96 MB for the code of all modules, and the default is 48 MB. If this memory is full, the JVM
 * interprets the rest.
 */
const quick = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=256m -XX:+UseSerialGC -Xms1500m";

/** Runs Maven in jvm/ with the JDK that builds. Returns its exit status. Without JDK or Maven, prints what is missing and returns 127. */
export const maven = (args, found = jdks(), stdio = "inherit") => run(args, found, stdio).status;

/** Runs Maven as {@link maven} does. Prints its standard output at the end, and returns it with the status, as `{ status, output }`. */
export function mavenWithOutput(args, found) {
  const { status, output } = run(args, found, ["inherit", "pipe", "inherit"]);
  process.stdout.write(output);
  return { status, output };
}

function run(args, found, stdio) {
  const failed = (status) => ({ status, output: "" });
  const home = found.get(chosen(found).builds);
  if (home === undefined) {
    console.error(missing.jdk);
    return failed(127);
  }
  const fixed = ["-B", "-q", "--no-transfer-progress", "-Dstyle.color=never", ...foreign(found)];
  const env = { MAVEN_OPTS: quick, ...process.env, JAVA_HOME: home };
  const options = { cwd: folder, stdio, env, encoding: "utf8", maxBuffer: 1 << 28 };
  const { status, stdout, error } = spawnSync("mvn", [...fixed, ...args], options);
  if (error?.code === "ENOENT") {
    console.error(missing.maven);
    return failed(127);
  }
  if (error) throw error;
  return { status: status ?? 1, output: stdout ?? "" };
}
