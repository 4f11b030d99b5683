// SPDX-License-Identifier: MIT OR Apache-2.0
// node --no-opt measure/budget/child.mjs OPERATION CARRIER: prints the cost of one operation on the caller's thread, as JSON.
//
// The copied bytes come from the pool's ledger and are exact. The allocations come from V8's sampling heap profiler at an interval of one
// byte, which reports every allocation, including objects that have already been collected. Only allocations of the library's own code
// count, and of the built-in functions that it calls. Node also allocates memory to deliver a message or an immediate. These allocations
// have other stacks. They do not count, because their number depends on how many messages the scheduler delivers together.
//
// V8's optimising compiler is off, because it removes allocations, and how many depends on when it compiles. The figures therefore include
// every allocation in the code. Compiled code makes about half of them. The worker has a separate heap, which is not measured.
//
// The result is the cheapest of several runs, because two effects can only increase the cost. Calls that arrive together share the cost of
// a message, and on a busy machine fewer calls arrive together. A garbage collection during a run may clean up after earlier runs.
import { writeSync } from "node:fs";
import { Session } from "node:inspector/promises";
import { pool } from "clearway";
import { allocatedDuring } from "./allocated.mjs";
import { operations, tasks } from "./operations.mjs";

/** Number of runs before the measurement. They load the lazily loaded parts and fill the inline caches. */
const warmRuns = 4;
const runs = 9;

const [name, carrier] = process.argv.slice(2);
const operation = operations[name];
if (operation === undefined) throw new RangeError(`no such operation: ${name}`);
if (operation.readsRecords) await import("clearway/records");

const made = pool(tasks, { size: 1, carrier });
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
  // The profiler may report two equal objects of one function as one entry, with the size of both.
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
