// SPDX-License-Identifier: MIT OR Apache-2.0
// The task that every pool runs. It adds one to a number, or asks a TCP server to do so over a kept connection.

export interface PoolTask {
  /** `none`: no connection. `held`: the worker opens one and keeps it. */
  connection: "none" | "held";
  port: number;
  value: number;
}
