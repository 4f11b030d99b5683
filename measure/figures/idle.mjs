// SPDX-License-Identifier: MIT OR Apache-2.0
// Measures the processor time of a warm, idle pool in Node.
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
const child = fileURLToPath(new URL("../child/idle.mjs", import.meta.url));
// The time before the measurement, in milliseconds. V8 collects garbage in the background for about ten seconds after an app becomes idle.
const settleMs = 15_000;
const idleMs = 3000;
const rounds = 6;

/** Yields one figure per carrier. Measures both at the same time, because they sleep and do not disturb each other. Takes about 35 s. */
export async function* idle() {
  const carriers = ["auto", "port"];
  const found = await Promise.all(
    carriers.map((carrier) => run(process.execPath, [child, carrier, `${settleMs}`, `${idleMs}`, `${rounds}`])),
  );
  for (const [at, carrier] of carriers.entries()) {
    const name = `processor time of an idle pool, Node, ${carrier === "auto" ? "ring" : carrier}`;
    yield { name, unit: "% of a core", sense: "at most", limit: 0.1, samples: JSON.parse(found[at].stdout) };
  }
}
