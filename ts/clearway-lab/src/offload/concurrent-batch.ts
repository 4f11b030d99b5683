// SPDX-License-Identifier: MIT OR Apache-2.0
import type { ActionName, Argument } from "./action.js";
import type { BatchExecutor } from "./strategy.js";

/** Returns a `run` that starts all calls of a batch at once. The pool queues them. */
export function concurrentBatch(call: (name: ActionName, argument: Argument) => Promise<number>): BatchExecutor["run"] {
  return (name, args) => Promise.all(args.map((argument) => call(name, argument)));
}
