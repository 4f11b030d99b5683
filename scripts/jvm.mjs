#!/usr/bin/env node
// SPDX-License-Identifier: MIT OR Apache-2.0
// `node scripts/jvm.mjs test 17|25|…`, `edt 17|25|…`, `bench-codec`, `bench-native`, `format`, `check-format`, `fetch`, or
// `stress`: Maven in jvm/, with a plain word where Maven or a JDK is missing.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { isProgram } from "./problems.mjs";

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
const foreignMin = 22;

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

/** Runs Maven in jvm/ with the JDK that builds; returns its exit status. Says what is missing, and returns 127, without. */
export function maven(args, found = jdks(), stdio = "inherit") {
  const home = found.get(chosen(found).builds);
  if (home === undefined) {
    console.error(missing.jdk);
    return 127;
  }
  const fixed = ["-B", "-q", "--no-transfer-progress", "-Dstyle.color=never", ...foreign(found)];
  const env = { ...process.env, JAVA_HOME: home };
  const { status, error } = spawnSync("mvn", [...fixed, ...args], { cwd: folder, stdio, env });
  if (error?.code === "ENOENT") {
    console.error(missing.maven);
    return 127;
  }
  if (error) throw error;
  return status ?? 1;
}

function test(version) {
  const found = jdks();
  const home = found.get(version);
  if (home === undefined) {
    console.error(`no JDK ${version} was found; there are: ${[...found.keys()].join(", ") || "none"}. ${missing.jdk}`);
    return 127;
  }
  // The compiler adds and never takes away: a class whose source is gone would still be run.
  for (const left of ["surefire-reports", "classes", "test-classes"]) {
    for (const path of leftIn(left)) rmSync(path, { recursive: true });
  }
  const plugins = version < foreignMin ? ["-Dplugin.tests=**/RuntimeTest.java"] : [];
  const status = maven(["test", "--fail-at-end", `-Djvm=${join(home, "bin/java")}`, ...plugins], found);
  if (status === 0) console.log(summary(version));
  return status;
}

/** The folders of this name that the last build left, one a module. */
function leftIn(name) {
  const modules = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return modules.map((module) => join(folder, module.name, "target", name)).filter((path) => existsSync(path));
}

/** One line of what ran, from the reports that Surefire leaves. */
function summary(version) {
  const sums = { tests: 0, failures: 0, errors: 0, skipped: 0 };
  for (const reports of leftIn("surefire-reports")) {
    for (const name of readdirSync(reports).filter((name) => name.endsWith(".xml"))) {
      const head = /<testsuite [^>]*>/s.exec(readFileSync(join(reports, name), "utf8"))?.[0] ?? "";
      for (const key of Object.keys(sums)) sums[key] += Number(new RegExp(`\\b${key}="(\\d+)"`).exec(head)?.[1] ?? 0);
    }
  }
  const failed = sums.failures + sums.errors;
  return `jvm, JDK ${version}: ${sums.tests - failed - sums.skipped} passed, ${failed} failed, ${sums.skipped} skipped`;
}

/** Prints how long the adaptive executor holds Swing's event thread, and what the meter costs. Measures; tests nothing. */
function edt(version) {
  const home = jdks().get(version);
  if (home === undefined) return test(version); // which says what is missing
  const one = ["-Dtest=EventThreadMeasurement", "-Dsurefire.failIfNoSpecifiedTests=false"];
  return maven(["test", "-pl", "executor,meter", ...one, `-Djvm=${join(home, "bin/java")}`]);
}

/** What native plugins cost, on the newest JDK: the table of jvm/README.md. */
function benchNative() {
  const found = jdks();
  const newest = Math.max(0, ...found.keys());
  if (newest < foreignMin) return maven(["validate"], found); // says what is missing
  const fork = [`-Djvm=${join(found.get(newest), "bin/java")}`, "-Dsurefire.useFile=false"];
  const one = ["-Dtest=NativeBench", "-Dsurefire.failIfNoSpecifiedTests=false"];
  return maven(["test", "-pl", "native", "-am", ...one, ...fork], found);
}

/** What the standard codec takes beside msgpack-java and Jackson, on the JDK that builds or on `version`: jvm/README.md. */
function benchCodec(version) {
  const found = jdks();
  const status = maven(["test-compile", "-pl", "channel"], found);
  if (status !== 0) return status;
  const home = found.get(version === undefined ? chosen(found).builds : Number(version)) ?? "";
  const path = ["classes", "test-classes", "bench-lib/*"].map((name) => join(folder, "channel/target", name)).join(":");
  const args = ["-Xmx512m", "-cp", path, "clearway.channel.bench.CodecBenchKt"];
  return spawnSync(join(home, "bin/java"), args, { stdio: "inherit" }).status ?? 1;
}

/** `jvm/stress` is in no build but its own; it is formatted as the others are. */
const format = (goal) => maven(["-Pstress", `spotless:${goal}`]);

const verbs = {
  test: (version) => test(Number(version ?? oldest)),
  edt: (version) => edt(Number(version ?? oldest)),
  "bench-codec": benchCodec,
  "bench-native": benchNative,
  format: () => format("apply"),
  "check-format": () => format("check"),
  fetch: () => maven(["test-compile", "spotless:check", "-Dspotless.check.skip=true"]),
};

if (isProgram(import.meta)) {
  const [verb, ...rest] = process.argv.slice(2);
  if (!verbs[verb]) {
    console.error(`jvm: unknown verb: ${verb} (${Object.keys(verbs).join(", ")})`);
    process.exitCode = 2;
  } else process.exitCode = verbs[verb](...rest);
}
