// SPDX-License-Identifier: MIT OR Apache-2.0
// Measures round trips of a channel to a worker in Node, against a bare port with an id map.
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
const child = fileURLToPath(new URL("../child/channels.mjs", import.meta.url));
const rounds = Number(process.env.CLEARWAY_MEASURE_ROUNDS ?? 21);

// The targets of docs/performance.md, "Channels".
const limits = {
  null: 1.1,
  "null, three in flight": 1,
  "2 KB": 1.1,
  "2 KB, three in flight": 1,
  "1 MB moved": 1.3,
  "1 MB moved, three in flight": 1.3,
};

/** Yields one figure per message: the ratio of the times in each round. `CLEARWAY_MEASURE_ROUNDS` sets the number of rounds. */
export async function* channels() {
  const { stdout } = await run(process.execPath, [child, `${rounds}`]);
  for (const [name, samples] of Object.entries(JSON.parse(stdout)))
    yield {
      name: `round trip of a channel to a worker / a bare port's, Node: ${name}`,
      unit: "ratio",
      sense: "at most",
      limit: limits[name],
      samples,
    };
}
