// SPDX-License-Identifier: MIT OR Apache-2.0
// A first page with Clearway: a pool, a stream, records and the meter. Its text says what came out.
import { pool } from "clearway";
import "clearway/records";
import { measure } from "clearway/meter";

const work = pool<typeof import("./work.tasks.js")>(
  () => new Worker(new URL("./work.tasks.ts", import.meta.url), { type: "module" }),
);
const doubled = await work.call.double(21);
const values: number[] = [];
for await (const value of work.call.count(5)) values.push(value);
const { value: students, report } = await measure(() => work.call.students(100_000));
await work.close();
const last = students.at(-1)?.name;
document.body.textContent = JSON.stringify({ doubled, values, last, stalls: Array.isArray(report.stalls) });
