// SPDX-License-Identifier: MIT OR Apache-2.0
// A strategy runs a batch of actions: on the calling thread, or in a pool that is used as in its documentation.
import { availableParallelism } from "node:os";
import type { ActionName, Argument } from "./action.js";

/** How actions wait. `none`: they only compute. `blocking`: they block their thread. `async`: they wait without blocking. */
export type Waits = "none" | "blocking" | "async";

export interface Running {
  /** Makes the pool. If the pool defers work until its first call, that work is part of the first batch. */
  start(): void | Promise<void>;
  /** Runs an action for each argument. Returns the results in the arguments' order, as an array if nothing had to wait. */
  run(name: ActionName, given: readonly Argument[]): number[] | Promise<number[]>;
  close(): unknown;
}

/** Loads the library. Loading is not timed. */
export type Strategy = (waits: Waits) => Promise<Running>;

export const CORES = availableParallelism();

/** Number of threads for blocking actions: four per core, a rule of thumb for pools of blocking calls. */
export const WAITING_THREADS = 4 * CORES;

/** Maximum number of concurrent actions in a worker whose actions only wait: a whole batch. */
export const WAITING_AT_ONCE = 100;
