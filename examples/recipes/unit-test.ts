// SPDX-License-Identifier: MIT OR Apache-2.0
// #region test
import { testContext } from "clearway/worker";
import tasks from "./work.tasks.js"; // outside a worker, expose() only returns its tasks

const seen: unknown[] = [];
const context = testContext({ progress: (value: unknown) => seen.push(value) });
console.log(await tasks.importRows(context, 4), seen); // 4 [ 0, 0.25, 0.5, 0.75, 1 ]
// #endregion test
