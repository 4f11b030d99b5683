// SPDX-License-Identifier: MIT OR Apache-2.0
import { parent } from "#lab-host";
import { type PoolTask, runPoolTask } from "../isolate/pool-task.js";

const main = parent();

main.listen(async (message) => {
  const { id, task } = message as { id: number; task: PoolTask };
  main.post({ id, value: await runPoolTask(task) });
});
