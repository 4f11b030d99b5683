// SPDX-License-Identifier: MIT OR Apache-2.0
// #region call
import { pool } from "clearway";
import { measure } from "clearway/meter";
import { countPrimes } from "./primes.js";

await using tasks = pool<typeof import("./primes.tasks.js")>(new URL("./primes.tasks.js", import.meta.url));
await tasks.ready();

const before = await measure(() => countPrimes(1_000_000));
const after = await measure(() => tasks.call.countPrimes(1_000_000));

console.log(`${after.value} primes; longest stall of the main thread:`);
console.log(`${before.report.longestMs.toFixed()} ms before, ${after.report.longestMs.toFixed()} ms after`);
// #endregion call
