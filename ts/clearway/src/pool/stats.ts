// SPDX-License-Identifier: MIT OR Apache-2.0
import { now, structuredClone } from "../globals.js";
import type { TaskTimings } from "../stats/timings.js";
import type { Ledger } from "../transfer/ledger.js";
import type { Engine } from "./engine.js";

/** Counts of a task's calls by outcome. With `metrics: true`, also the times of the phases of the calls. */
export interface TaskStats extends TaskTimings {
  calls: number;
  ok: number;
  /** Number of calls that rejected because of the task, its worker or the pool, for example because the queue was full. */
  failed: number;
  /** Number of calls that were ended by the caller's signal, by a limit of time or by the reader of their stream. */
  cancelled: number;
  /** Number of calls that ran on the caller's thread. */
  inline: number;
  /**
   * Numbers of calls that failed or were cancelled, by the code of Clearway's error. Errors of the task itself count as `task`, and calls that
   * the caller's signal has cancelled as `cancelled`.
   */
  errors: Record<string, number>;
}

/** A snapshot of a pool's counters. The counters start at the creation of the pool. */
export interface PoolStats {
  workers: {
    /** Number of threads, in any state. */
    size: number;
    ready: number;
    /** Number of workers that have a call to answer. */
    busy: number;
    /** Number of workers that died or that the pool killed. Workers that the pool recycled or no longer needed do not count. */
    restarts: number;
    /**
     * Set while workers exit one after another before they begin a call, or because their `setup` fails. Undefined otherwise. A call that is
     * answered resets it to undefined, and so does a `setup` that succeeds.
     */
    pause: RestartPause | undefined;
    /** For each living worker, the share of its lifetime that it spent in tasks. A share is above 1 if tasks overlap. */
    utilisation: number[];
  };
  queue: { items: number; bytes: number };
  /** Number of calls without an answer, including those that wait. */
  open: number;
  tasks: Record<string, TaskStats>;
  ledger: Ledger;
}

/** The state of a pool whose workers exit one after another before they begin a call, or whose `setup` fails. */
export interface RestartPause {
  /**
   * Number of exits, or of failures of `setup`, in a row. The waiting calls fail at the ninth exit, and at each failure of `setup`, unless
   * another worker is ready or starting.
   */
  exits: number;
  /** Time until the pool starts the next worker, in milliseconds: 0 (it does not wait) to 2,000. */
  nextStartInMs: number;
}

/** Returns a snapshot of a pool's counters. */
export function statsOf(engine: Engine): PoolStats {
  const all = [...engine.workers];
  const at = now();
  const tasks: Record<string, TaskStats> = Object.create(null);
  for (const { name, index, calls, ok, failed, cancelled, inline, errors } of engine.tasks.values()) {
    if (index >= 0)
      tasks[name] = {
        calls,
        ok,
        failed,
        cancelled,
        inline,
        errors: Object.fromEntries(errors),
        ...engine.metrics?.of(name),
      };
  }
  return {
    workers: {
      size: all.length,
      ready: engine.workers.count("ready"),
      busy: all.filter((worker) => worker.load > 0).length,
      restarts: engine.workers.restarts,
      pause: engine.lifecycle?.pauseOf(engine),
      utilisation: all.map((worker) => worker.runUs / 1000 / Math.max(1, at - worker.startedMs)),
    },
    queue: { items: engine.backlog.length, bytes: engine.backlog.bytes },
    open: engine.openCount,
    tasks,
    ledger: structuredClone({ toWorkers: engine.toWorkers, fromWorkers: engine.fromWorkers }),
  };
}
