// SPDX-License-Identifier: MIT OR Apache-2.0
import { expose } from "clearway/worker";
import { type PoolTask, runPoolTask } from "../isolate/pool-task.js";

export default expose({ run: (task: PoolTask): Promise<number> => runPoolTask(task) });
