// SPDX-License-Identifier: MIT OR Apache-2.0
// The task that every pool runs. It adds one to a number, or asks a TCP server to do so over a kept or a new connection.

export interface PoolTask {
  /** `none`: no connection. `held`: the worker opens one and keeps it. `each-task`: every task opens and closes one. */
  connection: "none" | "held" | "each-task";
  port: number;
  value: number;
  /** Makes the task end its worker instead of answering. */
  crash?: boolean;
}
