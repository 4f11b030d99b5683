// SPDX-License-Identifier: MIT OR Apache-2.0
// node --no-opt bench/budget/child.mjs OPERATION CARRIER: prints what one operation costs on the caller's thread, as JSON.
//
// Bytes copied come from the pool's ledger and are exact. Allocations come from V8's sampling heap profiler with an interval
// of one byte, so that it sees every one, those that were collected since included. What counts is what the library's own
// code allocates, built-in functions that it calls included; what Node allocates to deliver a message or an immediate is
// told apart by the stack and left out, because it depends on how many messages the scheduler let come together.
// Without the optimising compiler, because it folds allocations together, and how many depends on when it came round to it:
// so every allocation counts that the code asks for, and compiled code makes do with about half.
// The worker has a heap of its own, which is not looked at.
// Told is the cheapest of several runs. What a message costs is shared among the calls that came in it, and how many come
// together is the scheduler's; a collection may fall into a run and end what earlier ones dropped. Both only add.
import { writeSync } from "node:fs";
import { Session } from "node:inspector/promises";
import { pool } from "clearway";
import { allocatedDuring } from "./allocated.mjs";
import { operations } from "./operations.mjs";

/** Loads what is loaded late, and fills the inline caches. */
const warmRuns = 4;
const runs = 9;

const [name, carrier] = process.argv.slice(2);
const operation = operations[name];
if (operation === undefined) throw new RangeError(`no such operation: ${name}`);
if (operation.tasks === "records.tasks") await import("clearway/records");

const made = pool(new URL(`../worker/${operation.tasks}.mjs`, import.meta.url), { size: 1, carrier });
const session = new Session();
session.connect();
for (let run = 0; run < warmRuns; run++) await operation.run(made, operation.count);

const copiedSoFar = () => {
  const { toWorkers, fromWorkers } = made.stats().ledger;
  return toWorkers.copiedBytes + fromWorkers.copiedBytes;
};
const copiedBefore = copiedSoFar();
const seen = [];
for (let run = 0; run < runs; run++) {
  const samples = await allocatedDuring(session, () => operation.run(made, operation.count));
  // Two equal objects of one function may stand as one entry: its size is that of both.
  seen.push({ allocations: samples.length, allocatedBytes: samples.reduce((sum, { size }) => sum + size, 0) });
}
const copied = copiedSoFar() - copiedBefore;
await made.close();

const each = (metric) => Number((Math.min(...seen.map((run) => run[metric])) / operation.count).toFixed(1));
writeSync(
  1,
  JSON.stringify({
    copiedBytes: copied / (runs * operation.count),
    allocations: each("allocations"),
    allocatedBytes: each("allocatedBytes"),
  }),
);
process.exit(0);
