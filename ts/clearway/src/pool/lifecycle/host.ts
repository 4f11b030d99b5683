// SPDX-License-Identifier: MIT OR Apache-2.0
import type { ClearwayError } from "../../error/clearway-error.js";
import type { LedgerSide } from "../../transfer/ledger.js";
import type { PoolCall } from "../call/call.js";
import type { CallTracker } from "../call/tracker.js";
import type { Settings } from "../options.js";
import type { Backlog } from "../schedule/backlog.js";
import type { Scheduler } from "../schedule/scheduler.js";
import type { TaskRecords } from "../schedule/task-stats.js";
import type { Metrics } from "../stats.js";
import type { PoolWorker } from "../worker/worker.js";
import type { WorkerSet } from "../worker/worker-set.js";

/** A worker of a pool, with the pool's calls. */
export type Worker = PoolWorker<PoolCall>;

/** What the lifecycle needs of its pool. The engine implements it. */
export interface LifecycleHost {
  readonly settings: Settings;
  readonly records: TaskRecords;
  readonly backlog: Backlog<PoolCall>;
  readonly workers: WorkerSet<PoolCall>;
  readonly tracker: CallTracker;
  readonly scheduler: Scheduler<PoolCall>;
  /** Ledger entries by direction. */
  readonly toWorkers: LedgerSide;
  readonly fromWorkers: LedgerSide;
  /** The error of every new call once the pool has ended; undefined before. */
  readonly ended: ClearwayError | undefined;
  /** Whether no worker is ready or starting. */
  readonly noneComes: boolean;
  /** Receives the times of calls under `metrics`. */
  metrics: Metrics | undefined;
  /** Returns an id for a call or an input stream. */
  nextId(): number;
  /** Loads placement in the background. */
  expectPlacing(): void;
  /** Called when a worker's load drops. */
  loadDropped(worker: Worker): void;
  /** No worker could start at `index`: fails the calls that wait for it. */
  startFailed(index: number, reason: unknown): void;
  /** Starts a worker if a caller waits for `ready()` and no worker is there or starting. */
  startForReady(): void;
  /** Settles the promises of `ready()`. */
  tellReady(failure?: ClearwayError): void;
}
