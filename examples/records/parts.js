// SPDX-License-Identifier: MIT OR Apache-2.0
// Usage: node parts.js [COUNT]
import { pool } from "clearway";
import { measure } from "clearway/meter";

const count = Number(process.argv[2] ?? 4_000_000);

/** @type {import("clearway").Pool<typeof import("./parts.tasks.js")>} */
const workers = pool(new URL("./parts.tasks.js", import.meta.url));

const { value, report } = await measure(async () => {
  // #region read
  let [rows, sum] = [0, 0];
  for await (const part of workers.call.readings(count, 1 << 20)) {
    for (const { values } of part.column("value").chunks) for (const each of values) sum += each;
    rows += part.length;
    part.release(); // frees its memory at once
  }
  // #endregion read
  return { rows, sum };
});

console.log("rows:", value.rows);
console.log("sum:", value.sum);
console.log(`memory of the process: at most ${(process.resourceUsage().maxRSS / 1024).toFixed(0)} MiB`);
console.log(
  `longest stall of the main thread: ${report.ownLongestMs.toFixed(1)} ms in ${report.durationMs.toFixed(0)} ms`,
);

await workers.close();
