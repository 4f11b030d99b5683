// SPDX-License-Identifier: MIT OR Apache-2.0
// Reads the committed budgets, and measures the figures that are compared with them.
// node measure/budget/budgets.mjs     measures everything again and writes budgets.json; for an intended change only
import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { isProgram } from "../../scripts/problems.mjs";
import { operations } from "./operations.mjs";

const run = promisify(execFile);
const file = new URL("../budgets.json", import.meta.url);
const child = fileURLToPath(new URL("child.mjs", import.meta.url));

/** The carriers, which transport a pool's messages, by their names in the budgets. The values are those of the pool's option `carrier`. */
export const carriers = { port: "port", ring: "auto" };

/** The committed budgets: `{ measuredOn, operations: { [name]: { [carrier]: { copiedBytes, allocations, allocatedBytes } } } }`. */
export const budgets = JSON.parse(readFileSync(file, "utf8"));

/** Returns every pair of an operation and a carrier: `[operation, carrier]`. */
export function budgeted() {
  return Object.keys(operations).flatMap((name) => Object.keys(carriers).map((carrier) => [name, carrier]));
}

/** Returns the current cost of one operation. Takes about a second, in a separate process. */
async function measureBudget(name, carrier) {
  const { stdout } = await run(process.execPath, ["--no-opt", child, name, carriers[carrier]]);
  return JSON.parse(stdout);
}

/**
 * Returns the factor by which bytes may exceed their budget. On an idle machine, the cheapest of nine runs varied by 0.5 % in six
 * repetitions. On a busy machine, it varied by 2 % in three repetitions. Other versions of V8 allocate differently.
 */
function allowance() {
  return process.versions.node.split(".")[0] === budgets.measuredOn.node ? 1.04 : 1.5;
}

/**
 * Returns the factor by which the number of allocations may exceed its budget. V8 reports equal objects of one function as one entry or
 * as several, at random. On a busy machine, a chunk had 13.9 to 17.2 allocations, while its bytes varied by 2 %.
 */
function countAllowance() {
  return Math.max(1.3, allowance());
}

/** Number of processes per operation. It is the smallest number whose interval contains the median in 95 of 100 cases. */
const rounds = 6;

/** Yields the bytes and the number of allocations of every operation with every carrier. Takes about 80 s. */
export async function* budgetFigures() {
  for (const [name, carrier] of budgeted()) {
    const budget = budgets.operations[name][carrier];
    const found = [];
    for (let round = 0; round < rounds; round++) found.push(await measureBudget(name, carrier));
    const figure = (metric, unit, share) => ({
      name: `${unit} allocated: ${name}, ${carrier}`,
      unit,
      sense: "at most",
      limit: budget[metric] * share,
      samples: found.map((each) => each[metric]),
    });
    yield figure("allocatedBytes", "bytes", allowance());
    yield figure("allocations", "objects", countAllowance());
  }
}

if (isProgram(import.meta)) {
  const measured = {};
  for (const [name, carrier] of budgeted()) {
    measured[name] ??= {};
    measured[name][carrier] = await measureBudget(name, carrier);
    console.log(`${name}, ${carrier}: ${JSON.stringify(measured[name][carrier])}`);
  }
  const measuredOn = { node: process.versions.node.split(".")[0] };
  writeFileSync(file, `${JSON.stringify({ measuredOn, operations: measured }, null, 2)}\n`);
}
