// SPDX-License-Identifier: MIT OR Apache-2.0
// node --no-opt measure/budget/child.mjs OPERATION CARRIER: prints the cost of one operation on the caller's thread, as JSON.
//
// Bytes copied come from the pool's ledger and are exact. Allocations come from V8's sampling heap profiler with an interval of one byte,
// so it sees every allocation, including those already collected. Only allocations of the library's own code count, with the built-in
// functions that it calls. The stack tells apart what Node allocates to deliver a message or an immediate. That is left out, because it
// depends on how many messages the scheduler delivers together.
//
// The optimising compiler is off. It merges allocations, and how many depends on when it compiles. Every allocation in the code therefore
// counts, and compiled code makes about half of them. The worker has a separate heap, which is not measured.
//
// The result is the cheapest of several runs. The cost of a message is shared among its calls, and the scheduler decides how many calls
// arrive together. A garbage collection may fall into a run and clean up after earlier ones. Both only add.
import { writeSync } from "node:fs";
import { Session } from "node:inspector/promises";
import { pool } from "clearway";
import { allocatedDuring } from "./allocated.mjs";
import { operations } from "./operations.mjs";

/** Loads the lazily loaded parts, and fills the inline caches. */
const warmRuns = 4;
const runs = 9;

const [name, carrier] = process.argv.slice(2);
const operation = operations[name];
if (operation === undefined) throw new RangeError(`no such operation: ${name}`);
if (operation.tasks === "records.tasks") await import("clearway/records");

const made = pool(new URL(`./${operation.tasks}.mjs`, import.meta.url), { size: 1, carrier });
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
  // Two equal objects of one function may be one entry, with the size of both.
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
