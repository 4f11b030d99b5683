// SPDX-License-Identifier: MIT OR Apache-2.0
// Measures the processor time of a warm, idle pool in Node, in a process for each carrier.
// node measure/idle.mjs CARRIER: prints it in % of a core, one figure per round, as JSON.
import { execFile } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { isProgram } from "../scripts/problems.mjs";
import { tasks } from "./budget/operations.mjs";

const run = promisify(execFile);
// The time before the measurement, in milliseconds. V8 collects garbage in the background for about ten seconds after an app becomes idle.
const settleMs = 15_000;
const idleMs = 3000;
const rounds = 6;

/** Yields one figure per carrier. Measures both at the same time, because they sleep and do not disturb each other. Takes about 35 s. */
export async function* idle() {
  const carriers = ["auto", "port"];
  const found = await Promise.all(
    carriers.map((carrier) => run(process.execPath, [fileURLToPath(import.meta.url), carrier])),
  );
  for (const [at, carrier] of carriers.entries()) {
    const name = `processor time of an idle pool, Node, ${carrier === "auto" ? "ring" : carrier}`;
    yield { name, unit: "% of a core", sense: "at most", limit: 0.1, samples: JSON.parse(found[at].stdout) };
  }
}

if (isProgram(import.meta)) {
  const { pool } = await import("clearway");
  const made = pool(tasks, { size: 1, carrier: process.argv[2] });
  for (let at = 0; at < 2000; at++) await made.call.double(at);
  await sleep(settleMs);
  const found = [];
  for (let round = 0; round < rounds; round++) {
    const from = process.cpuUsage();
    const startMs = performance.now();
    await sleep(idleMs);
    const { user, system } = process.cpuUsage(from);
    found.push((user + system) / 10 / (performance.now() - startMs));
  }
  await made.close();
  process.stdout.write(JSON.stringify(found));
}
