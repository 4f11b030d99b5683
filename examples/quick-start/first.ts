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
  const [here, there] = [before, after].map(({ report }) => Math.round(report.ownLongestMs));
  console.log(`${after.value} primes; ms stalled: ${here} before, ${there} after`);
} finally {
  await tasks.close();
}
// #endregion call
