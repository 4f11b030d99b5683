// SPDX-License-Identifier: MIT OR Apache-2.0
import { ThreadWorker } from "poolifier";
import { type PoolTask, runPoolTask } from "../isolate/pool-task.js";

// poolifier awaits only functions that are declared async.
export default new ThreadWorker<PoolTask, Promise<number>>(async (task) => runPoolTask(task!));
