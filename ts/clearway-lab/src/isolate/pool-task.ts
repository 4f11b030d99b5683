// SPDX-License-Identifier: MIT OR Apache-2.0
// The task that every pool runs: adds one to a number, alone or by asking a TCP server, with a held or a new connection.

export interface PoolTask {
  /** none: no connection. held: opened once in the worker and kept. each-task: opened and closed by every task. */
  connection: "none" | "held" | "each-task";
  port: number;
  value: number;
  /** Ends the worker instead of answering. */
  crash?: boolean;
}
