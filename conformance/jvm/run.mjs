// SPDX-License-Identifier: MIT OR Apache-2.0
// Answers for the JVM. Starts the program in the tests of jvm/channel. Builds it first if its sources are newer.
import { spawn } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { isCompiled } from "../../scripts/jvm-classes.mjs";
import { chosen, folder, jdks, maven, missing } from "../../scripts/maven.mjs";

const module = join(folder, "channel");
const program = join(module, "target/test-classes/clearway/channel/conformance/MainKt.class");

/** Returns the time at which the file, or the newest file of the folder, was written. Returns 0 if there is none. */
function writtenMs(path) {
  const facts = statSync(path, { throwIfNoEntry: false });
  if (!facts?.isDirectory()) return facts?.mtimeMs ?? 0;
  return Math.max(0, ...readdirSync(path).map((name) => writtenMs(join(path, name))));
}

const found = jdks();
const home = found.get(chosen(found).builds);
if (home === undefined) {
  console.error(missing.jdk);
  process.exit(127);
}
const sources = Math.max(writtenMs(join(module, "src")), writtenMs(join(module, "pom.xml")));
// Git writes files anew whose content is the same. After `scripts/jvm.mjs compile`, the content decides.
const isStale =
  !existsSync(join(module, "target/lib")) || (sources > writtenMs(program) && !isCompiled("channel", found));
// This phase also copies the libraries.
const phase = "process-test-classes";
// Maven's output goes to stderr, because it must not appear among the answers.
const status = isStale ? maven(["-pl", "channel", phase], found, ["ignore", 2, 2]) : 0;
if (status !== 0) process.exit(status);

const path = ["classes", "test-classes", "lib/*"].map((name) => join(module, "target", name)).join(":");
// The program runs for only a few seconds, so it uses only the fast compiler, and no extra threads for garbage collection.
const flags = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto"];
const args = [...flags, "-cp", path, "clearway.channel.conformance.MainKt"];
spawn(join(home, "bin/java"), args, { stdio: "inherit" }).on("exit", (code) => process.exit(code ?? 1));
