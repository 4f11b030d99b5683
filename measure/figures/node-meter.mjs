// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests in Node whether the meter finds stalls of known length with an error of at most 1 ms or 5 %.
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { node24 } from "../../scripts/node24.mjs";
import { figuresOf } from "../known-stalls.mjs";

const run = promisify(execFile);
const child = fileURLToPath(new URL("../child/known-stalls.mjs", import.meta.url));

/** Yields one figure per stall length, on this Node and on Node 24. Takes about 15 s for each. */
export async function* nodeMeter() {
  const newer = node24();
  for (const program of [process.execPath, ...(newer ? [newer] : [])]) {
    const { stdout: version } = await run(program, ["-p", "process.versions.node"]);
    const { stdout } = await run(program, [child]);
    yield* figuresOf(`Node ${version.trim()}`, JSON.parse(stdout));
  }
}
