// SPDX-License-Identifier: MIT OR Apache-2.0
// Finds the runner for Swift. Reads a file that the repository's build writes.
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { packageRoot } from "../machine/package-root.js";
import type { RunnerCommand } from "./client.js";

/** The file that `node scripts/swift-lab.mjs` writes. */
interface Built {
  program: string;
  /** The compiler's version, such as "6.0.3". */
  version: string;
  /** The paths of the example plugin and of libclearway. A file may be missing; the cells that need it then report that. */
  plugin?: string;
  library?: string;
}

/** The environment variable with the path of such a file. The default is the repository's file. */
const VARIABLE = "CLEARWAY_LAB_SWIFT";

export const SWIFT_MISSING =
  "the runner for Swift is not built: in Clearway's repository, scripts/setup.sh swift adds Swift 6, and node scripts/swift-lab.mjs builds the runner";

/** Returns the command that starts the runner. If there is none, returns the reason. */
export function findSwiftRunner(): RunnerCommand | string {
  const file = process.env[VARIABLE] ?? path.join(packageRoot(), "../../swift/.build/lab/runner.json");
  if (!existsSync(file)) return SWIFT_MISSING;
  const { program, version, plugin, library } = JSON.parse(readFileSync(file, "utf8")) as Built;
  if (!existsSync(program)) return SWIFT_MISSING;
  const env = {
    CLEARWAY_LAB_SWIFT_VERSION: `Swift ${version}`,
    ...(plugin && { CLEARWAY_LAB_PLUGIN: plugin }),
    ...(library && { CLEARWAY_LIBRARY: library }),
  };
  return { command: program, args: [], env };
}
