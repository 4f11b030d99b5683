// SPDX-License-Identifier: MIT OR Apache-2.0
// Usage: node main.js [COUNT]
import { pool } from "clearway";
import { measure } from "clearway/meter";
import { Students } from "./students.js";

const count = Number(process.argv[2] ?? 1_000_000);

/** @type {import("clearway").Pool<typeof import("./students.tasks.js")>} */
const workers = pool(new URL("./students.tasks.js", import.meta.url));

const { value: students, report } = await measure(async () => new Students(await workers.call.students(count)));

console.log("rows:", students.length);
console.log("first:", students.at(0));
console.log("last:", students.at(students.length - 1));
console.log("copied bytes:", workers.stats().ledger.fromWorkers.copiedBytes);
console.log(
  `longest stall of the main thread: ${report.ownLongestMs.toFixed(1)} ms in ${report.durationMs.toFixed(0)} ms`,
);

await workers.close();
