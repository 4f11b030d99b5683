// SPDX-License-Identifier: MIT OR Apache-2.0
import type { ActionName, Argument } from "./action.js";
import type { Running } from "./strategy.js";

/** Starts all calls of a batch at once. The pool queues them. */
export function batched(call: (name: ActionName, argument: Argument) => Promise<number>): Running["run"] {
  return (name, given) => Promise.all(given.map((argument) => call(name, argument)));
}
