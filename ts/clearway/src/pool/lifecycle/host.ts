// SPDX-License-Identifier: MIT OR Apache-2.0
import type { ClearwayError } from "../../error/clearway-error.js";
import type { Timings } from "../../stats/timings.js";
import type { PoolCall } from "../call/call.js";
import type { InlineHost } from "../call/inline.js";
import type { CallTracker } from "../call/tracker.js";
import type { Settings } from "../options.js";
import type { Backlog } from "../schedule/backlog.js";
import type { Scheduler } from "../schedule/scheduler.js";
import type { TaskRecords } from "../schedule/task-stats.js";
import type { PoolWorker } from "../worker/worker.js";
import type { WorkerSet } from "../worker/worker-set.js";

/** A worker of a pool, with the pool's calls. */
export type Worker = PoolWorker<PoolCall>;

/** The part of a pool that the lifecycle uses. The engine implements it. */
export interface LifecycleHost extends InlineHost {
  readonly settings: Settings;
  readonly records: TaskRecords;
  readonly backlog: Backlog<PoolCall>;
  readonly workers: WorkerSet<PoolCall>;
  readonly tracker: CallTracker;
  readonly scheduler: Scheduler<PoolCall>;
  /** The calls that wait for the pieces of their results. */
  readonly arriving: Set<PoolCall>;
  /** Functions that the pool calls when it takes no new calls. */
  readonly endings: Set<(why: ClearwayError) => void>;
  /** The error with which every new call fails once the pool has ended. Undefined before. */
  readonly ended: ClearwayError | undefined;
  /** Whether no worker is ready or starting. */
  readonly noWorkerComing: boolean;
  /** Receives the times of calls if `metrics` is on. */
  metrics: Timings | undefined;
  /** Returns a new id for a call or an input stream. */
  nextId(): number;
  /** Called when a worker's load drops. */
  loadDropped(worker: Worker): void;
  /** Fails the calls that wait for a worker at `index`, because no worker could start there. */
  startFailed(index: number, reason: unknown): void;
  /** Starts a worker if a caller waits for `ready()` and no worker is ready or starting. */
  startForReady(): void;
  /** Settles the promises of `ready()`. Rejects them if `failure` is given. */
  settleReady(failure?: ClearwayError): void;
}
