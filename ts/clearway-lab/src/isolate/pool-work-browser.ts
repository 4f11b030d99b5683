// SPDX-License-Identifier: MIT OR Apache-2.0
// The pool's task in a browser. A page has no sockets, so the scenario uses no connection there.
import type { PoolTask } from "./pool-task.js";

export async function runPoolTask(task: PoolTask): Promise<number> {
  if (task.connection !== "none") throw new Error(`a page holds no TCP connection: connection=${task.connection}`);
  return task.value + 1;
}
