#!/usr/bin/env node
// SPDX-License-Identifier: MIT OR Apache-2.0
// The tasks of jvm/: `node scripts/jvm.mjs compile`, `test 17|25|… [25]`, `measure 17|25|…`, `edt 17|25|…`,
// `publish FOLDER [javadoc] [sbom] [sign]`, `format`, `check-format` or `fetch`.
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { asTheyStand, checkFormat, compile, format } from "./jvm-classes.mjs";
import { publish } from "./jvm-publish.mjs";
import { folder, foreignMin, jdks, maven, missing, oldest } from "./maven.mjs";
import { isProgram } from "./problems.mjs";

/** Prints that a requested JDK is missing. Returns 127. */
function sayMissing(version, found) {
  console.error(`no JDK ${version} was found; there are: ${[...found.keys()].join(", ") || "none"}. ${missing.jdk}`);
  return 127;
}

/** Runs all tests on JDK `version`. With `newest`, the same run of Maven also runs the JDK-dependent tests on that JDK. */
function test(version, newest) {
  const found = jdks();
  for (const asked of [version, newest]) if (asked !== undefined && !found.has(asked)) return sayMissing(asked, found);
  const compiled = compile(found);
  if (compiled !== 0) return compiled;
  for (const path of [...leftIn(reports), ...leftIn(newestReports)]) rmSync(path, { recursive: true });
  const java = (release) => join(found.get(release), "bin/java");
  const only = version < foreignMin ? ["-Dplugin.tests=**/RuntimeTest.java"] : [];
  const both = newest === undefined ? [] : [`-Dnewest.java=${java(newest)}`];
  const everyTest = process.env.CLEARWAY_EVERY_TEST === "1" ? ["-Dnewest.skip=false"] : [];
  // With more runs of the random tests (`make deep`), a test may take hours without a fault.
  const patient = process.env.CLEARWAY_FUZZ_RUNS === undefined ? [] : ["-Dtest.timeout=24 h"];
  const options = [...asTheyStand, `-Djvm=${java(version)}`, ...only, ...both, ...everyTest, ...patient];
  const status = maven(["test", "--fail-at-end", ...options], found);
  console.log(summary(version, reports));
  if (newest !== undefined) console.log(summary(newest, newestReports));
  return status;
}

const reports = "surefire-reports";
const newestReports = "surefire-reports-newest";

/** Returns the report folders with this name that the last build wrote, one per module. */
function leftIn(name) {
  const modules = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return modules.map((module) => join(folder, module.name, "target", name)).filter((path) => existsSync(path));
}

/** Returns one line with the numbers of tests, from Surefire's reports in the folders with the name `name`. */
function summary(version, name) {
  const sums = { tests: 0, failures: 0, errors: 0, skipped: 0 };
  for (const path of leftIn(name)) {
    for (const file of readdirSync(path).filter((each) => each.endsWith(".xml"))) {
      const head = /<testsuite [^>]*>/s.exec(readFileSync(join(path, file), "utf8"))?.[0] ?? "";
      for (const key of Object.keys(sums)) sums[key] += Number(new RegExp(`\\b${key}="(\\d+)"`).exec(head)?.[1] ?? 0);
    }
  }
  const failed = sums.failures + sums.errors;
  return `jvm, JDK ${version}: ${sums.tests - failed - sums.skipped} passed, ${failed} failed, ${sums.skipped} skipped`;
}

/** Runs the tests with the tag `measure` on JDK `version`. Each prints its figures as JSON after `figure: `. They assert nothing. */
function measure(version) {
  const found = jdks();
  if (!found.has(version)) return sayMissing(version, found);
  const compiled = compile(found);
  if (compiled !== 0) return compiled;
  const modules = version < foreignMin ? "meter" : "meter,native";
  const only = [
    "-Dtests.only=measure",
    "-Dtests.not=",
    "-Dsurefire.failIfNoSpecifiedTests=false",
    "-Dsurefire.useFile=false",
  ];
  return maven(
    ["test", "-pl", modules, "-am", ...asTheyStand, ...only, `-Djvm=${join(found.get(version), "bin/java")}`],
    found,
  );
}

/** Prints how long the adaptive executor blocks Swing's event thread, and what the meter costs. It only measures and asserts nothing. */
function edt(version) {
  const home = jdks().get(version);
  if (home === undefined) return sayMissing(version, jdks());
  const one = ["-Dtest=EventThreadMeasurement", "-Dsurefire.failIfNoSpecifiedTests=false"];
  return maven(["test", "-pl", "executor,meter", ...one, `-Djvm=${join(home, "bin/java")}`]);
}

const verbs = {
  compile: () => compile(),
  test: (version, newest) => test(Number(version ?? oldest), newest === undefined ? undefined : Number(newest)),
  measure: (version) => measure(Number(version ?? oldest)),
  edt: (version) => edt(Number(version ?? oldest)),
  publish: (target, ...words) => publish(target, words),
  format: () => format("apply"),
  "check-format": () => checkFormat(),
  fetch: () => maven(["test-compile", "spotless:check", "-Dspotless.check.skip=true"]),
};

if (isProgram(import.meta)) {
  const [verb, ...rest] = process.argv.slice(2);
  if (!verbs[verb]) {
    console.error(`jvm: unknown verb: ${verb} (${Object.keys(verbs).join(", ")})`);
    process.exitCode = 2;
  } else process.exitCode = verbs[verb](...rest);
}
