// SPDX-License-Identifier: MIT OR Apache-2.0
// Measures how long streams keep Node's main thread from running a timer, for many shapes of values, by ring and by port.
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
const child = fileURLToPath(new URL("../child/streams.mjs", import.meta.url));
const rounds = 9;

/**
 * Yields one figure per carrier and shape: the longest wait of each round. One value is received in one piece, so the shapes have
 * no value that takes longer than the limit by itself. Takes about a minute.
 */
export async function* streams() {
  for (const carrier of ["auto", "port"]) {
    const { stdout } = await run(process.execPath, [child, carrier, `${rounds}`]);
    for (const [shape, samples] of Object.entries(JSON.parse(stdout))) {
      const name = `longest wait of a timer beside a stream, Node, ${carrier === "auto" ? "ring" : carrier}: ${shape}`;
      yield { name, unit: "ms", sense: "at most", limit: 8, samples };
    }
  }
}
