// SPDX-License-Identifier: MIT OR Apache-2.0
import { now, structuredClone } from "../globals.js";
import { lazyModule } from "../lazy/lazy-module.js";
import type { CallTimes, TaskTimings, Timings } from "../stats/timings.js";
import type { Ledger, LedgerSide } from "../transfer/ledger.js";
import type { CallTiming } from "./options.js";
import type { TaskRecord } from "./schedule/task-stats.js";

const loadTimings = /* @__PURE__ */ lazyModule(async () => import("../stats/timings.js"));

/** Counts of a task's calls by outcome. With `metrics: true`, also the times of the phases of the calls. */
export interface TaskStats extends TaskTimings {
  calls: number;
  ok: number;
  failed: number;
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

/** The part of a pool that `statsOf` reads. The engine implements it. */
export interface StatsSource {
  readonly workers: Iterable<{ readonly load: number; readonly runUs: number; readonly startedMs: number }> & {
    readonly restarts: number;
    count(state: "ready"): number;
  };
  readonly records: ReadonlyMap<string, TaskRecord>;
  readonly backlog: { readonly length: number; readonly bytes: number };
  readonly tracker: { readonly openCount: number };
  readonly metrics: Metrics | undefined;
  readonly lifecycle: { pauseOf(): RestartPause | undefined } | undefined;
  readonly toWorkers: LedgerSide;
  readonly fromWorkers: LedgerSide;
}

/** Returns a snapshot of a pool's counters. */
export function statsOf(source: StatsSource): PoolStats {
  const all = [...source.workers];
  const at = now();
  const tasks: Record<string, TaskStats> = Object.create(null);
  for (const { name, index, calls, ok, failed, cancelled, inline, errors } of source.records.values()) {
    if (index >= 0)
      tasks[name] = {
        calls,
        ok,
        failed,
        cancelled,
        inline,
        errors: Object.fromEntries(errors),
        ...source.metrics?.of(name),
      };
  }
  return {
    workers: {
      size: all.length,
      ready: source.workers.count("ready"),
      busy: all.filter((worker) => worker.load > 0).length,
      restarts: source.workers.restarts,
      pause: source.lifecycle?.pauseOf(),
      utilisation: all.map((worker) => worker.runUs / 1000 / Math.max(1, at - worker.startedMs)),
    },
    queue: { items: source.backlog.length, bytes: source.backlog.bytes },
    open: source.tracker.openCount,
    tasks,
    ledger: structuredClone({ toWorkers: source.toWorkers, fromWorkers: source.fromWorkers }),
  };
}

// Maximum number of calls whose times are kept until the histograms are loaded. The file with the histograms has a few KB and loads in some
// milliseconds.
const earlyLimit = 10_000;

/** Receives the times of calls if `metrics` is on. Loads the histograms. Keeps times that come earlier in a list. */
export class Metrics {
  #early: [task: string, times: CallTimes][] = [];
  #timings: Timings | undefined;
  readonly #listener: ((call: CallTiming) => void) | undefined;
  readonly #failed: (reason: unknown) => void;
  /** Settles when the histograms were loaded or their load failed. Never rejects. */
  readonly loaded: Promise<void>;

  /**
   * `failed` receives the error if the histograms cannot be loaded, and each error of `listener`. The pool then continues.
   */
  constructor(failed: (reason: unknown) => void, listener?: (call: CallTiming) => void) {
    this.#failed = failed;
    this.#listener = listener;
    this.loaded = loadTimings().then(({ Timings }) => {
      this.#timings = new Timings();
      for (const [task, times] of this.#early.splice(0)) this.#timings.enter(task, times);
    }, failed);
  }

  enter(task: string, times: CallTimes): void {
    if (this.#listener) {
      const [submitted, posted, started, finished, answered] = times;
      // The clocks of two threads may disagree by some microseconds.
      const us = (from: number, to: number): number => Math.max(0, (to - from) * 1000);
      try {
        this.#listener({
          task,
          queueUs: us(submitted, posted),
          transitUs: us(posted, started),
          runUs: us(started, finished),
          returnUs: us(finished, answered),
        });
      } catch (reason) {
        this.#failed(reason);
      }
    }
    if (this.#timings) this.#timings.enter(task, times);
    else if (this.#early.length < earlyLimit) this.#early.push([task, times]);
  }

  of(task: string): TaskTimings | undefined {
    return this.#timings?.of(task);
  }
}
