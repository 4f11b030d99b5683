// SPDX-License-Identifier: MIT OR Apache-2.0
// The code of docs/recipes.md for workers that are child processes.
import { type ClearwayError, pool } from "clearway";

const source = new URL("./work.tasks.js", import.meta.url);

// #region processes
await using work = pool<typeof import("./work.tasks.js")>(source, { processes: true, size: 2 });
await work.call.crash().catch(({ code, message }: ClearwayError) => console.log(`${code}: ${message}`));
// worker-exited: the signal SIGSEGV ended the worker's process
console.log(await work.call.search("c")); // [ 'cherry' ]: the pool goes on
// #endregion processes
