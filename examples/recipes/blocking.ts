// SPDX-License-Identifier: MIT OR Apache-2.0
// The code of docs/recipes-apps.md for a caller that blocks.
import { pool } from "clearway";

const source = new URL("./blocking.tasks.js", import.meta.url);

// #region blocking
await using worker = pool<typeof import("./blocking.tasks.js")>(source, { size: 1 });
await worker.ready(); // 1. the worker has started
const cell = new Int32Array(new SharedArrayBuffer(8));
const call = worker.call.double(cell, 21);
await null; // 2. the call leaves at the end of this turn, together with the turn's other calls
console.log(Atomics.wait(cell, 0, 0, 10_000) !== "timed-out", cell[1]); // true 42
await call; // 3. before the next call, so that the pool learns that its worker is free
// #endregion blocking
