// SPDX-License-Identifier: MIT OR Apache-2.0
// Answers for the JVM, by the program that stands among the tests of jvm/channel. Builds it where its sources are newer.
import { spawn } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { chosen, folder, jdks, maven, missing } from "../../scripts/maven.mjs";

const module = join(folder, "channel");
const program = join(module, "target/test-classes/clearway/channel/conformance/MainKt.class");

/** When the file was written, or the newest of a folder's; 0 where there is none. */
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
// What Maven says must not stand among the answers.
const isStale = sources > writtenMs(program) || !existsSync(join(module, "target/lib"));
// By this phase the libraries are copied, too.
const phase = "process-test-classes";
const status = isStale ? maven(["-pl", "channel", phase], found, ["ignore", 2, 2]) : 0;
if (status !== 0) process.exit(status);

const path = ["classes", "test-classes", "lib/*"].map((name) => join(module, "target", name)).join(":");
// It lives for seconds: the quick compiler alone, and no threads for garbage.
const flags = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto"];
const args = [...flags, "-cp", path, "clearway.channel.conformance.MainKt"];
spawn(join(home, "bin/java"), args, { stdio: "inherit" }).on("exit", (code) => process.exit(code ?? 1));
