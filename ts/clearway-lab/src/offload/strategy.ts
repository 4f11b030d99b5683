// SPDX-License-Identifier: MIT OR Apache-2.0
// A strategy is a way of running a batch of actions: on the calling thread, or in a pool set up as in its documentation.
import { availableParallelism } from "node:os";
import type { ActionName, Argument } from "./action.js";

/** `none`: the actions compute. `blocking`: they block their thread while they wait. `async`: they wait without blocking. */
export type Waits = "none" | "blocking" | "async";

export interface Running {
  /** Makes the pool. Work that the pool defers until its first call is part of the first batch. */
  start(): void | Promise<void>;
  /** Runs an action for each argument. Returns the results in the arguments' order; not a promise if nothing waits. */
  run(name: ActionName, given: readonly Argument[]): number[] | Promise<number[]>;
  close(): unknown;
}

/** Loads the library, which is not measured. */
export type Strategy = (waits: Waits) => Promise<Running>;

export const CORES = availableParallelism();

/** Threads for blocking actions: four for each core, the rule of thumb for pools of blocking calls. */
export const WAITING_THREADS = 4 * CORES;

/** Concurrent actions in one worker that only waits: a whole batch. */
export const WAITING_AT_ONCE = 100;
