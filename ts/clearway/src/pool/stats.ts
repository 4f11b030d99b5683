// SPDX-License-Identifier: MIT OR Apache-2.0
import { now } from "#host";
import type { TaskTimings } from "../stats/timings.js";
import type { Ledger } from "../transfer/ledger.js";
import type { Engine } from "./engine.js";
import type { RestartPause } from "./lifecycle/restarts.js";

/** What became of a task's calls, and, with `metrics: true`, how long each part of them took. */
export interface TaskStats extends TaskTimings {
  calls: number;
  ok: number;
  failed: number;
  cancelled: number;
  /** How many of the calls ran on the caller's thread. */
  inline: number;
}

/** What a pool has done since it was made. A snapshot: it does not change afterwards. */
export interface PoolStats {
  workers: {
    /** Threads that exist, in any state. */
    size: number;
    ready: number;
    /** Workers that have a call to answer. */
    busy: number;
    /** Workers that died or had to be killed. */
    restarts: number;
    /**
     * Set while workers exit in a row before they begin a call: the number of exits, and the time until the next start. Undefined
     * otherwise, and again as soon as a call is answered.
     */
    pause: RestartPause | undefined;
    /** Share of each living worker's time that was spent in tasks; above 1 where tasks overlap. */
    utilisation: number[];
  };
  queue: { items: number; bytes: number };
  /** Calls that are asked for and not answered, waiting ones included. */
  open: number;
  tasks: Record<string, TaskStats>;
  ledger: Ledger;
}

export function statsOf(engine: Engine): PoolStats {
  const all = [...engine.workers];
  const at = now();
  const tasks: Record<string, TaskStats> = Object.create(null);
  for (const { name, index, calls, ok, failed, cancelled, inline } of engine.records.values()) {
    if (index >= 0) tasks[name] = { calls, ok, failed, cancelled, inline, ...engine.metrics?.of(name) };
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
    open: engine.tracker.openCount,
    tasks,
    ledger: structuredClone({ toWorkers: engine.toWorkers, fromWorkers: engine.fromWorkers }),
  };
}
