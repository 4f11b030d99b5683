// SPDX-License-Identifier: MIT OR Apache-2.0
import type { ClearwayError } from "../error/clearway-error.js";
import type { TaskPlacement } from "../task/task.js";
import type { LedgerSide } from "../transfer/ledger.js";

/**
 * Where calls run. `auto`: on the caller's thread where that was learnt to be cheaper than the hop to a worker and well
 * within `inlineBudgetMs`, else in workers. `worker`: always in workers. `inline`: always on the caller's thread, however
 * long that takes, once the task module is loaded there; for comparisons.
 */
export type Placement = "auto" | "worker" | "inline";

/** A task's record as placement reads and counts it. */
export interface PlacedTask {
  readonly name: string;
  /** Undefined until the first worker is ready. */
  readonly kind: "function" | "stream" | undefined;
  /** The task's index in its module; -1 while unknown. */
  readonly index: number;
  /** The placement that the module declares. */
  readonly placement: TaskPlacement | undefined;
  /** Run times in workers. */
  readonly estimate: { readonly samples: number; readonly meanUs: number | undefined; readonly peakUs: number };
  calls: number;
  ok: number;
  failed: number;
  /** Calls that ran on the caller's thread. */
  inline: number;
}

/** The options of a call as placement reads them. */
export interface PlacedOptions {
  readonly placement: Placement | undefined;
  /** Index of the worker that the call's key belongs to; -1 without a key. */
  readonly place: number;
  /** Whether the call may be cancelled. */
  readonly limited: boolean;
  readonly onProgress: ((value: unknown) => void) | undefined;
  readonly strict: boolean;
}

/** What placement needs of a pool. The pool implements it. */
export interface PlacerOwner {
  /** URL of the task module, or a factory of workers. */
  readonly source: URL | string | (() => unknown);
  readonly settings: {
    readonly placement: Placement | undefined;
    readonly inlineBudgetMs: number;
    readonly module: (() => Promise<unknown>) | undefined;
    /** Time limit of a worker's start, and of loading the module for advice. */
    readonly startTimeoutMs: number;
  };
  /** The error of every new call once the pool has ended; undefined before. */
  readonly ended: ClearwayError | undefined;
  readonly records: ReadonlyMap<string, PlacedTask>;
  readonly workers: { count(state: "ready"): number };
  readonly toWorkers: LedgerSide;
  readonly fromWorkers: LedgerSide;
  /** Counts the open calls. `close()` of the pool waits until `openCount` is 0; `shut` takes one off. */
  readonly tracker: { openCount: number; shut(): void };
  ping(): Promise<unknown>;
}
