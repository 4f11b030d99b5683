// SPDX-License-Identifier: MIT OR Apache-2.0
// Finds the runners for the JVM, Swift and Flutter.
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { findFlutter } from "../flutter/install.mjs";
import { packageRoot } from "../machine/optional-packages.js";
import type { RunnerCommand } from "./client.js";

/** The file that `node scripts/jvm-lab.mjs` writes. */
interface JvmBuilt {
  classpath: string[];
  /** System properties for the runner and its forks: the paths of the native parts. */
  properties?: Record<string, string>;
  /** JDK homes by feature release. */
  jdks: Record<string, string>;
}

/** The environment variable with the path of such a file. The default is the repository's file. */
const JVM_VARIABLE = "CLEARWAY_LAB_JVM";

export const JVM_MISSING =
  "the JVM's runner is not built: it needs a JDK 17 or newer and Maven (apt-get install -y --no-install-recommends openjdk-17-jdk-headless maven), then, in Clearway's repository, node scripts/jvm-lab.mjs";

/** JVM options of the router. The router only forwards lines and should take few resources from the measuring processes. */
const ROUTER_OPTIONS = ["-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"];

/** The release from which the JVM warns on stderr about each of JMH's uses of Unsafe. */
const UNSAFE_WARNS = 23;
const UNSAFE_QUIET = "--sun-misc-unsafe-memory-access=allow";

/** JVM options of an arm: the JVM's default collector and compilers, and a heap of fixed size. */
const ARM_OPTIONS = ["-Xms512m", "-Xmx512m"];

/**
 * Returns the command that starts the runner on the newest JDK, or on the requested release. If there is none, returns the reason.
 */
export function findJvmRunner(release?: number): RunnerCommand | string {
  return javaCommand(ROUTER_OPTIONS, ["clearway.lab.MainKt"], release);
}

/** Returns the command that starts an arm on the newest JDK. It speaks the arms' protocol on its standard streams. */
export function jvmArmCommand(arm: string): (RunnerCommand & { standard: true }) | string {
  const command = javaCommand(ARM_OPTIONS, ["clearway.lab.arm.ArmKt", arm]);
  return typeof command === "string" ? command : { ...command, standard: true };
}

function javaCommand(options: readonly string[], program: readonly string[], release?: number): RunnerCommand | string {
  const file = process.env[JVM_VARIABLE] ?? path.join(packageRoot(), "../../jvm/lab/target/runner.json");
  if (!existsSync(file)) return JVM_MISSING;
  const { classpath, jdks, properties = {} } = JSON.parse(readFileSync(file, "utf8")) as JvmBuilt;
  const releases = Object.keys(jdks).map(Number);
  const chosen = release ?? Math.max(...releases);
  const home = jdks[chosen];
  if (home === undefined || !existsSync(home))
    return `no JDK ${chosen} was found when the runner was built; there were: ${releases.join(", ")}. Add one, then node scripts/jvm-lab.mjs`;
  return {
    command: path.join(home, "bin/java"),
    args: [
      ...options,
      ...(chosen >= UNSAFE_WARNS ? [UNSAFE_QUIET] : []),
      ...Object.entries(properties).map(([name, value]) => `-D${name}=${value}`),
      "-cp",
      classpath.join(path.delimiter),
      ...program,
    ],
  };
}

/** The file that `node scripts/swift-lab.mjs` writes. */
interface SwiftBuilt {
  program: string;
  /** The compiler's version, such as "6.0.3". */
  version: string;
  /** The paths of the example plugin and of libclearway. A file may be missing; the cells that need it then report that. */
  plugin?: string;
  library?: string;
}

/** The environment variable with the path of such a file. The default is the repository's file. */
const SWIFT_VARIABLE = "CLEARWAY_LAB_SWIFT";

export const SWIFT_MISSING =
  "the runner for Swift is not built: in Clearway's repository, scripts/setup.sh swift adds Swift 6, and node scripts/swift-lab.mjs builds the runner";

/** Returns the command that starts the runner. If there is none, returns the reason. */
export function findSwiftRunner(): RunnerCommand | string {
  const file = process.env[SWIFT_VARIABLE] ?? path.join(packageRoot(), "../../swift/.build/lab/runner.json");
  if (!existsSync(file)) return SWIFT_MISSING;
  const { program, version, plugin, library } = JSON.parse(readFileSync(file, "utf8")) as SwiftBuilt;
  if (!existsSync(program)) return SWIFT_MISSING;
  const env = {
    CLEARWAY_LAB_SWIFT_VERSION: `Swift ${version}`,
    ...(plugin && { CLEARWAY_LAB_PLUGIN: plugin }),
    ...(library && { CLEARWAY_LIBRARY: library }),
  };
  return { command: program, args: [], env };
}

/** Returns why the host `flutter` is not installed here, and the remedy; or undefined. Whether it works, its runner says. */
export function flutterMissing(): string | undefined {
  return findFlutter(packageRoot()).problem;
}
