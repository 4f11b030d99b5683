// SPDX-License-Identifier: MIT OR Apache-2.0
// The pool's task in Node. The worker keeps its connection in a variable, as hand-written workers usually do.
import { EchoConnection } from "./echo-client.js";
import type { PoolTask } from "./pool-task.js";

let keptConnection: EchoConnection | undefined;

export async function runPoolTask(task: PoolTask): Promise<number> {
  if (task.connection === "none") return task.value + 1;
  if (!keptConnection?.open) keptConnection = await EchoConnection.open(task.port);
  return keptConnection.ask(task.value);
}
