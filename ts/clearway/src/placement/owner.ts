// SPDX-License-Identifier: MIT OR Apache-2.0
import type { ClearwayError } from "../error/clearway-error.js";
import type { TaskPlacement } from "../task/task.js";
import type { LedgerSide } from "../transfer/ledger.js";

/**
 * Where calls run.
 *
 * - `auto`: on the caller's thread if measurements show that this is cheaper than the hop to a worker and well within `inlineBudgetMs`.
 *   Otherwise in a worker.
 * - `worker`: always in a worker.
 * - `inline`: on the caller's thread once the task module is loaded there, however long a call takes. Meant for comparisons.
 *
 * Some calls always run in a worker: streams, calls that can be cancelled, calls with a key or a progress listener, and tasks that are
 * declared `worker`.
 */
export type Placement = "auto" | "worker" | "inline";

/** The part of a task's record that placement reads and updates. */
export interface PlacedTask {
  readonly name: string;
  /** Undefined until the first worker is ready. */
  readonly kind: "function" | "stream" | undefined;
  /** The task's index in its module; -1 while unknown. */
  readonly index: number;
  /** The placement that the module declares. */
  readonly placement: TaskPlacement | undefined;
  /** Estimate of the run time in workers. Times are in microseconds. */
  readonly estimate: { readonly samples: number; readonly meanUs: number | undefined; readonly peakUs: number };
  calls: number;
  ok: number;
  failed: number;
  /** Number of calls that ran on the caller's thread. */
  inline: number;
}

/** The options of a call that placement reads. */
export interface PlacedOptions {
  readonly placement: Placement | undefined;
  /** Index of the worker to which the call's key belongs. -1 without a key. */
  readonly workerIndex: number;
  /** Whether the call may be cancelled. */
  readonly limited: boolean;
  readonly onProgress: ((value: unknown) => void) | undefined;
  readonly strict: boolean;
}

/** The part of a pool that placement uses. The pool implements it. */
export interface PlacerOwner {
  /** URL of the task module, or a factory that makes workers. */
  readonly source: URL | string | (() => unknown);
  readonly settings: {
    readonly placement: Placement | undefined;
    readonly inlineBudgetMs: number;
    readonly module: (() => Promise<unknown>) | undefined;
    /** Time limit in milliseconds for the start of a worker, and for loading the module before advice. */
    readonly startTimeoutMs: number;
  };
  /** The error with which every new call fails once the pool has ended. Undefined before. */
  readonly ended: ClearwayError | undefined;
  readonly records: ReadonlyMap<string, PlacedTask>;
  readonly workers: { count(state: "ready"): number };
  readonly toWorkers: LedgerSide;
  readonly fromWorkers: LedgerSide;
  /** Counts the open calls. The pool's `close()` waits until `openCount` is 0. `shut` subtracts one. */
  readonly tracker: { openCount: number; shut(): void };
  ping(): Promise<unknown>;
}
