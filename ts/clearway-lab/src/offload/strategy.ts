// SPDX-License-Identifier: MIT OR Apache-2.0
// A strategy is a way of running a batch of actions: on the calling thread, or by a pool as its documentation sets it up.
import { availableParallelism } from "node:os";
import type { ActionName, Argument } from "./action.js";

/** `none`: the actions compute. `blocking`: they hold their thread while they wait. `async`: they leave it free. */
export type Waits = "none" | "blocking" | "async";

export interface Running {
  /** Makes the pool; what it puts off until its first call is in the first batch. */
  start(): void | Promise<void>;
  /** Runs an action for each argument and gives the results in the arguments' order; not a promise where nothing waits. */
  run(name: ActionName, given: readonly Argument[]): number[] | Promise<number[]>;
  close(): unknown;
}

/** Loads the library, which is not measured. */
export type Strategy = (waits: Waits) => Promise<Running>;

export const CORES = availableParallelism();

/** Threads for actions that hold theirs while they wait: four a core, the rule of thumb for pools before blocking calls. */
export const WAITING_THREADS = 4 * CORES;

/** Actions at once in one worker that only waits: a batch at once. */
export const WAITING_AT_ONCE = 100;
