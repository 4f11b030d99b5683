// SPDX-License-Identifier: MIT OR Apache-2.0
// #region call
import { pool } from "clearway";
import { measure } from "clearway/meter";
import primes from "./primes.tasks.js";

const tasks = pool<typeof import("./primes.tasks.js")>(new URL("./primes.tasks.js", import.meta.url));
try {
  await tasks.ready();
  const before = await measure(() => primes.countPrimes(1_000_000));
  const after = await measure(() => tasks.call.countPrimes(1_000_000));
  console.log(`${after.value} primes; ms stalled: ${before.report.longestMs} before, ${after.report.longestMs} after`);
} finally {
  await tasks.close();
}
// #endregion call
