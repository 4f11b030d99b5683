// SPDX-License-Identifier: MIT OR Apache-2.0
// The committed budgets, and the measurement that they are held against.
//   node bench/budget/budgets.mjs     measures everything anew and writes budgets.json, for a change that is meant
import { execFile } from "node:child_process";
import { readFileSync, realpathSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { hasRecords } from "../subject/records.mjs";
import { operations } from "./operations.mjs";

const run = promisify(execFile);
const file = new URL("../budgets.json", import.meta.url);
const child = fileURLToPath(new URL("child.mjs", import.meta.url));

/** Carriers by the names that the budgets use, and what a pool is told. */
export const carriers = { port: "port", ring: "auto" };

/** `{ measuredOn, operations: { [name]: { [carrier]: { copiedBytes, allocations, allocatedBytes } } } }`. */
export const budgets = JSON.parse(readFileSync(file, "utf8"));

/** Every operation by every carrier that this build can do: `[operation, carrier]`. */
export function budgeted() {
  return Object.entries(operations)
    .filter(([, { tasks }]) => hasRecords || tasks !== "records.tasks")
    .flatMap(([name]) => Object.keys(carriers).map((carrier) => [name, carrier]));
}

/** What one operation costs now. Takes about a second, in a process of its own. */
export async function measureBudget(name, carrier) {
  const { stdout } = await run(process.execPath, ["--no-opt", child, name, carriers[carrier]]);
  return JSON.parse(stdout);
}

/**
 * How far the bytes may lie over their budget. The cheapest of nine runs lay within 0.5 % of each other in six repetitions of
 * each operation on an idle machine, and within 2 % in three on a busy one. Another version of V8 allocates otherwise.
 */
export function allowance() {
  return process.versions.node.split(".")[0] === budgets.measuredOn.node ? 1.04 : 1.5;
}

/**
 * How far the count may. V8 tells equal objects of one function as one entry or as several, as it comes: a chunk's was 13.9 to
 * 17.2 on a busy machine, over the same bytes within 2 %.
 */
export function countAllowance() {
  return Math.max(1.3, allowance());
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const measured = {};
  for (const [name, carrier] of budgeted()) {
    measured[name] ??= {};
    measured[name][carrier] = await measureBudget(name, carrier);
    console.log(`${name}, ${carrier}: ${JSON.stringify(measured[name][carrier])}`);
  }
  const measuredOn = { node: process.versions.node.split(".")[0] };
  writeFileSync(file, `${JSON.stringify({ measuredOn, operations: measured }, null, 2)}\n`);
}
