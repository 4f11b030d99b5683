// SPDX-License-Identifier: MIT OR Apache-2.0
// The task that every pool runs: it adds one to a number, or asks a TCP server to do so over a kept connection.
import { hostName } from "#lab-host";
import type { EchoConnection } from "./echo-client.js";

export interface PoolTask {
  /** `none`: no connection. `held`: the worker opens one and keeps it. A page has no sockets. */
  connection: "none" | "held";
  port: number;
  value: number;
}

/** The worker keeps its connection in a variable, as hand-written workers usually do. */
let keptConnection: EchoConnection | undefined;

export async function runPoolTask(task: PoolTask): Promise<number> {
  if (task.connection === "none") return task.value + 1;
  if (hostName !== "node") throw new Error(`a page holds no TCP connection: connection=${task.connection}`);
  if (!keptConnection?.open) keptConnection = await (await import("./echo-client.js")).EchoConnection.open(task.port);
  return keptConnection.ask(task.value);
}
