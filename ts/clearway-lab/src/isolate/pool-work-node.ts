// SPDX-License-Identifier: MIT OR Apache-2.0
// The pool's task in Node. The worker keeps its connection in a variable, as hand-written workers usually do.
import { EchoConnection } from "./echo-client.js";
import type { PoolTask } from "./pool-task.js";

let keptConnection: EchoConnection | undefined;

export async function runPoolTask(task: PoolTask): Promise<number> {
  if (task.crash) process.exit(1);
  if (task.connection === "none") return task.value + 1;
  if (task.connection === "held") {
    if (!keptConnection?.open) keptConnection = await EchoConnection.open(task.port);
    return keptConnection.ask(task.value);
  }
  return askOnce(task);
}

/** Opens a connection, asks the server and closes the connection. */
export async function askOnce(task: PoolTask): Promise<number> {
  const connection = await EchoConnection.open(task.port);
  try {
    return await connection.ask(task.value);
  } finally {
    connection.close();
  }
}
