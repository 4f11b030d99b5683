// SPDX-License-Identifier: MIT OR Apache-2.0
// The code of docs/recipes-apps.md for users of Piscina.
// #region piscina
import { move, pool } from "clearway";

const hashes = pool<typeof import("./hash.tasks.js")>(new URL("./hash.tasks.js", import.meta.url), {
  size: { min: 1, max: 2, idleMs: 10_000 }, // minThreads, maxThreads, idleTimeout
  queue: { items: 100, whenFull: "fail" }, // maxQueue
});
const upload = new Uint8Array(8_000_000);
const signal = AbortSignal.timeout(30_000);
console.log(await hashes.with({ signal }).call.hash(move(upload), "md5")); // 14d20d18d7f0fed186b420fe6fd31991
await hashes.close();
// #endregion piscina
