// SPDX-License-Identifier: MIT OR Apache-2.0
// A strategy runs a batch of actions: on the calling thread, or in a pool that is used as in its documentation.
import { availableParallelism } from "node:os";
import type { ActionName, Argument } from "./action.js";

/** How actions wait. `none`: they only compute. `blocking`: they block their thread. `async`: they wait without blocking. */
export type WaitKind = "none" | "blocking" | "async";

/** A strategy that has loaded its library: it makes the pool and runs batches. */
export interface BatchExecutor {
  /** Makes the pool. If the pool defers work until its first call, that work is part of the first batch. */
  start(): void | Promise<void>;
  /** Runs an action for each argument. Returns the results in the arguments' order, as an array if nothing had to wait. */
  run(name: ActionName, args: readonly Argument[]): number[] | Promise<number[]>;
  close(): unknown;
}

/** Loads the library and returns an executor. Loading is not timed. */
export type Strategy = (waits: WaitKind) => Promise<BatchExecutor>;

export const CORES = availableParallelism();

/** Number of threads for blocking actions: four per core, a rule of thumb for pools of blocking calls. */
export const BLOCKING_THREADS = 4 * CORES;

/** Maximum number of concurrent actions in a worker whose actions only wait: a whole batch. */
export const CONCURRENT_ACTIONS_MAX = 100;
