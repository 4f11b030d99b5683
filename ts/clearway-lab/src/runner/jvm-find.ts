// SPDX-License-Identifier: MIT OR Apache-2.0
// Where the JVM's runner is, and which JDK starts it: told by the file that the repository's build leaves.
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { packageRoot } from "../machine/package-root.js";
import type { RunnerCommand } from "./client.js";

/** What `node scripts/jvm-lab.mjs` writes. */
interface Built {
  classpath: string[];
  /** System properties that the runner and its forks are started with: where the native parts stand. */
  properties?: Record<string, string>;
  /** Homes by feature release. */
  jdks: Record<string, string>;
}

/** The environment variable that names another such file than the repository's. */
const VARIABLE = "CLEARWAY_LAB_JVM";

export const JVM_MISSING =
  "the JVM's runner is not built: it needs a JDK 17 or newer and Maven (apt-get install -y --no-install-recommends openjdk-17-jdk-headless maven), then, in Clearway's repository, node scripts/jvm-lab.mjs";

/** The router only passes lines on: it should take as little as it can from those that measure. */
const ROUTER_OPTIONS = ["-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"];

/** From this release on the JVM warns of what JMH asks for, on stderr, each time. */
const UNSAFE_WARNS = 23;
const UNSAFE_QUIET = "--sun-misc-unsafe-memory-access=allow";

/** The command that starts the runner on the newest JDK, or on the release asked for; else why there is none. */
export function findJvmRunner(release?: number): RunnerCommand | string {
  const file = process.env[VARIABLE] ?? path.join(packageRoot(), "../../jvm/lab/target/runner.json");
  if (!existsSync(file)) return JVM_MISSING;
  const { classpath, jdks, properties = {} } = JSON.parse(readFileSync(file, "utf8")) as Built;
  const releases = Object.keys(jdks).map(Number);
  const chosen = release ?? Math.max(...releases);
  const home = jdks[chosen];
  if (home === undefined || !existsSync(home))
    return `no JDK ${chosen} was found when the runner was built; there were: ${releases.join(", ")}. Add one, then node scripts/jvm-lab.mjs`;
  return {
    command: path.join(home, "bin/java"),
    args: [
      ...ROUTER_OPTIONS,
      ...(chosen >= UNSAFE_WARNS ? [UNSAFE_QUIET] : []),
      ...Object.entries(properties).map(([name, value]) => `-D${name}=${value}`),
      "-cp",
      classpath.join(path.delimiter),
      "clearway.lab.MainKt",
    ],
  };
}
