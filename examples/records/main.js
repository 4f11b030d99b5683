// SPDX-License-Identifier: MIT OR Apache-2.0
// Usage: node main.js [COUNT]
import { pool } from "clearway";
import { measure } from "clearway/meter";

const count = Number(process.argv[2] ?? 1_000_000);

/** @type {import("clearway").Pool<typeof import("./students.tasks.js")>} */
const workers = pool(new URL("./students.tasks.js", import.meta.url));

// #region read
const { value: students, report } = await measure(() => workers.call.students(count));

console.log("rows:", students.length);
console.log("last:", JSON.stringify(students.at(-1)));

let zoes = 0;
for (const cursor of students.cursors())
  for (let row = 0; row < cursor.length; row++) if (cursor.at(row).name === "Zoë") zoes++;
console.log("called Zoë:", zoes);

let sum = 0;
for (const { values } of students.column("rollNum").chunks) for (const rollNum of values) sum += rollNum;
console.log("sum:", sum);

console.log("a page:", students.toObjects({ from: 500, to: 502 }));
// #endregion read
console.log("copied bytes:", workers.stats().ledger.fromWorkers.copiedBytes);
console.log(
  `longest stall of the main thread: ${report.ownLongestMs.toFixed(1)} ms in ${report.durationMs.toFixed(0)} ms`,
);

await workers.close();
