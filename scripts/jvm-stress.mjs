#!/usr/bin/env node
// SPDX-License-Identifier: MIT OR Apache-2.0
// `node scripts/jvm-stress.mjs [quick|default|tough]`: tests the interleavings of threads in the executor's cursor, stealing and
// lifecycle with jcstress, on the JDK that builds. Writes reports to out/jcstress.
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { chosen, folder, jdks, maven } from "./maven.mjs";

const mode = process.argv[2] ?? "quick";
const found = jdks();
const paths = join(folder, "stress/target/stress.classpath");
const status = maven(
  [
    "-Pstress",
    "-Dstress.skip=false",
    "compile",
    "dependency:build-classpath",
    `-Dmdep.outputFile=${paths}`,
    "-pl",
    "executor,stress",
  ],
  found,
);
if (status !== 0) process.exit(status);

const out = fileURLToPath(new URL("../out/jcstress", import.meta.url));
mkdirSync(out, { recursive: true });
const classes = ["stress", "executor"].map((module) => join(folder, module, "target/classes"));
const classPath = [...classes, readFileSync(paths, "utf8").trim()].join(":");
const java = join(found.get(chosen(found).builds), "bin/java");
// One round of jcstress runs `strideSize` times `strideCount` samples. In some tests, the executor stops a thread to read its stack, which
// takes about 20 us per sample. With larger strides, the rounds of these tests time out.
const strides = ["-strideSize", "32", "-strideCount", "4"];
const run = spawnSync(java, ["-cp", classPath, "org.openjdk.jcstress.Main", "-m", mode, ...strides, "-r", out], {
  cwd: out,
  stdio: "inherit",
});
process.exitCode = run.status ?? 1;
