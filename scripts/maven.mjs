// SPDX-License-Identifier: MIT OR Apache-2.0
// Maven in jvm/, and the JDKs of this machine, with a plain word where one is missing.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const folder = fileURLToPath(new URL("../jvm", import.meta.url));

/** What builds, and what the bytecode asks for. */
export const oldest = 17;

/** What to do where the JDK that builds is missing. */
export const missing = {
  jdk: "a JDK 17 is missing. Add it with: apt-get install -y --no-install-recommends openjdk-17-jdk-headless",
  maven: "Maven is missing. Add it with: apt-get install -y --no-install-recommends maven",
};

/** Where systems and people put JDKs, one folder each; CLEARWAY_JDKS names more, with `:` between. */
const shelves = [
  "/usr/lib/jvm",
  "/Library/Java/JavaVirtualMachines",
  join(process.env.HOME ?? "/", ".sdkman/candidates/java"),
];

/** The feature release (17, 25) of the JDK in `home`, or undefined where that is none that can compile. */
export function release(home) {
  const facts = join(home, "release");
  if (!existsSync(join(home, "bin/javac")) || !existsSync(facts)) return undefined;
  const version = /^JAVA_VERSION="(\d+)/m.exec(readFileSync(facts, "utf8"));
  return version ? Number(version[1]) : undefined;
}

/** A JDK's home by feature release, the first found of each: JAVA_HOME, CLEARWAY_JDKS, the program `javac`, the shelves. */
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

/** The JDK that builds (17, or the next that is there) and what else the tests run on: the newest from 24 on. */
export function chosen(found = jdks()) {
  const versions = [...found.keys()].sort((a, b) => a - b);
  const builds = versions.find((version) => version >= oldest);
  const newest = versions.filter((version) => version >= 24 && version !== builds).at(-1);
  return { builds, newest };
}

/** Since when java.lang.foreign, which jvm/native is compiled against, is final. */
export const foreignMin = 22;

/** Whether one of these has it. */
export function hasForeign(found) {
  return Math.max(0, ...found.keys()) >= foreignMin;
}

/** What has Maven build what needs that, with the newest JDK that has it; nothing where none has. */
function foreign(found) {
  if (hasForeign(found)) return [`-Dforeign.jdk=${found.get(Math.max(...found.keys()))}`];
  console.error(`jvm: no JDK ${foreignMin} or newer was found: native plugins are left out`);
  return [];
}

/**
 * The compiler runs for two minutes, of which the JVM's second compiler took a third: 183 s with it, 125 without, on two cores;
 * 115 with a heap that need not grow. The first alone, with the check of the format, keeps 300 MB of code. Whoever sets MAVEN_OPTS knows better.
 */
const quick = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=512m -XX:+UseSerialGC -Xms1500m";

/** Runs Maven in jvm/ with the JDK that builds; returns its exit status. Says what is missing, and returns 127, without. */
export function maven(args, found = jdks(), stdio = "inherit") {
  const home = found.get(chosen(found).builds);
  if (home === undefined) {
    console.error(missing.jdk);
    return 127;
  }
  const fixed = ["-B", "-q", "--no-transfer-progress", "-Dstyle.color=never", ...foreign(found)];
  const env = { MAVEN_OPTS: quick, ...process.env, JAVA_HOME: home };
  const { status, error } = spawnSync("mvn", [...fixed, ...args], { cwd: folder, stdio, env });
  if (error?.code === "ENOENT") {
    console.error(missing.maven);
    return 127;
  }
  if (error) throw error;
  return status ?? 1;
}
