// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError } from "../../error/clearway-error.js";
import { clock, unref } from "../../globals.js";
import { timeLimit } from "../../lazy/lazy.js";
import type { Placement } from "../../task/task.js";
import type { TaskKind } from "../../transport/protocol.js";
import type { PoolCall } from "../call/call.js";
import type { Engine } from "../engine.js";
import type { Settings } from "../options.js";
import type { PoolWorker } from "../worker/worker.js";
import type { WorkerSet } from "../worker/worker-set.js";
import type { Backlog } from "./backlog.js";

// Maximum number of codes of errors that are counted one by one.
const codesMax = 256;

// Time that the start of a worker takes, in microseconds: 15 ms in Node and 6 to 12 ms in Chromium, measured. If the waiting calls will
// finish sooner, another worker does not help. If a worker has ended no call for this long, its call takes longer than expected, and may
// never end.
const startUs = 15_000;

// If a worker that is awake has less expected work than this, in microseconds, it takes the call. Waking another worker costs 20 to 50 us
// on a virtual machine.
const wakeUs = 50;

// A call is sent ahead to a busy worker only if all calls there are expected to take less than this in total, in microseconds. 1 ms equals
// about twenty wake-ups. The limit is also the longest expected time that a call waits for other calls of its worker.
const aheadBudgetUs = 1_000;
// Number of measured runs that a task needs before its calls are sent ahead.
const samplesNeeded = 8;
const shortUs = 200;

/**
 * Estimate of a task's run time in workers, in microseconds: a moving mean, and a peak that decays slowly. The slow decay makes the pool
 * remember one slow run for a while.
 */
export class Estimate {
  samples = 0;
  peakUs = 0;
  #leastUs = Number.POSITIVE_INFINITY;
  #meanUs = 0;

  add(runUs: number): void {
    this.samples++;
    this.#meanUs += (runUs - this.#meanUs) / Math.min(this.samples, 32);
    this.peakUs = Math.max(runUs, this.peakUs * 0.99);
    this.#leastUs = Math.min(runUs, this.#leastUs * 1.1);
  }

  /** Expected time of one run, in microseconds; at least 0.5. Undefined before 8 samples. */
  get meanUs(): number | undefined {
    return this.samples < samplesNeeded ? undefined : Math.max(0.5, this.#meanUs);
  }

  /** Whether every recent run took longer than a caller polls for a result. */
  get long(): boolean {
    return this.samples > 0 && this.#leastUs > shortUs;
  }

  /** Whether the task is short enough for its calls to be sent ahead: to a worker that is busy with other calls. */
  get short(): boolean {
    return this.samples >= samplesNeeded && this.#meanUs <= shortUs && this.peakUs <= aheadBudgetUs;
  }
}

/** Returns whether one more call may be sent ahead to a worker with `busyUs` microseconds of expected work. */
export function mayGoAhead(estimate: Estimate, busyUs: number): boolean {
  return estimate.short && busyUs + estimate.meanUs! <= aheadBudgetUs;
}

/** One task of a pool: its kind, its run times and the counts of its calls. */
export class PoolTask {
  /** Undefined until the first worker is ready. */
  kind: TaskKind | undefined;
  /** Index of the task in its module. -1 while unknown. */
  index = -1;
  readonly estimate = new Estimate();
  calls = 0;
  ok = 0;
  failed = 0;
  cancelled = 0;
  /** Numbers of failures, by code. */
  readonly errors = new Map<string, number>();
  /** Number of calls that ran on the caller's thread. */
  inline = 0;
  /** The placement that the module declares. */
  placement: Placement | undefined;

  constructor(readonly name: string) {}

  /** Counts the error of a call by its code. `other` is the code of an error that is not Clearway's. */
  countError(reason: unknown, other = "task"): void {
    const own: unknown = reason instanceof ClearwayError ? reason.code : other;
    // A hostile worker sends errors with any code.
    const code = typeof own === "string" && (this.errors.has(own) || this.errors.size < codesMax) ? own : "other";
    this.errors.set(code, (this.errors.get(code) ?? 0) + 1);
  }
}

/** The tasks of a pool, by name. */
export class PoolTasks extends Map<string, PoolTask> {
  /** Whether a worker has listed the tasks of its module. */
  known = false;

  /** Returns the task of this name. Once the tasks are known, a task of any other name is not kept. */
  of(name: string): PoolTask {
    let task = this.get(name);
    if (!task) {
      task = new PoolTask(name);
      if (!this.known) this.set(name, task);
    }
    return task;
  }
}

/** Returns whether a worker may take this call now. `ahead` is whether short calls may wait at a busy worker. */
export function accepts(worker: PoolWorker, call: PoolCall, concurrency: number, ahead = true): boolean {
  if (worker.life.state !== "ready") return false;
  if (worker.load < concurrency) return true;
  // Sends the call ahead: to a busy worker, where it waits for short calls to end. A guarded call (one that the pool may have to stop while
  // it runs) is never sent ahead, and no call is sent ahead to a worker that has a guarded call. To stop a guarded call, the pool may have
  // to kill the worker.
  if (!ahead || call.guarded || worker.guarded > 0 || !mayGoAhead(call.task.estimate, worker.busyUs)) return false;
  return !isStill(worker, startUs);
}

// Returns whether a busy worker has ended no call for longer than `us` microseconds.
function isStill(worker: PoolWorker, us: number): boolean {
  return (clock() - worker.movedMs) * 1_000 > us;
}

/**
 * Chooses the worker for a call. A short task goes to a worker that is awake, if that is cheaper than waking another one. Any other task
 * goes to the worker with the lowest load. Among workers with equal load, the most used one is chosen, because its caches are warm.
 */
export function choose(
  all: readonly (PoolWorker | undefined)[],
  call: PoolCall,
  concurrency: number,
  ahead = true,
): PoolWorker | undefined {
  let best: PoolWorker | undefined;
  // Iterates by index. Every call runs this loop, and an iterator would allocate three objects.
  for (let at = 0; at < all.length; at++) {
    const worker = all[at];
    if (!worker || !accepts(worker, call, concurrency, ahead)) continue;
    const { load, busyUs, guarded } = worker;
    const awake = load > 0 && busyUs < wakeUs && guarded === 0 && call.task.estimate.short && !call.guarded;
    if (awake && !isStill(worker, aheadBudgetUs)) return worker;
    if (!best || worker.load < best.load || (worker.load === best.load && worker.tasksRun > best.tasksRun)) {
      best = worker;
    }
  }
  return best;
}

// Returns whether the worker has an open call with the same key, which may be NaN. A call that does not stop holds its key only for its grace
// period.
function hasKey(worker: PoolWorker, { options }: PoolCall): boolean {
  return worker.calls
    .values()
    .some((each) => each.counted && !each.overdue && [each.options.key].includes(options.key));
}

/** Assigns waiting calls to free workers. Starts workers if that is worth the time. */
export class Scheduler {
  readonly #settings: Settings;
  readonly #backlog: Backlog;
  readonly #workers: WorkerSet;
  readonly #engine: Engine;
  /** Whether a call may wait for another one. */
  readonly #mayWait: boolean;
  #running = false;
  #again = false;
  #isWatching = false;

  constructor(engine: Engine) {
    const { settings, backlog, workers } = engine;
    this.#engine = engine;
    this.#settings = settings;
    this.#mayWait = settings.queue.items > 0;
    this.#backlog = backlog;
    this.#workers = workers;
  }

  /** Sends every waiting call that can be sent. Call it after any change. A call to `run` during `run` is allowed. */
  run(): void {
    // A worker that is free is room for a call if no call may wait.
    if (!this.#mayWait) this.#backlog.offerRoom();
    if (this.#backlog.length === 0) return;
    this.#again = true;
    if (this.#running) return;
    this.#running = true;
    while (this.#again) {
      this.#again = false;
      for (const queue of this.#backlog.queues) {
        for (let call = queue.peek(); call; call = queue.peek()) {
          const worker = this.#workerFor(call);
          if (!worker) break;
          // A call of another queue may have waited for this one.
          this.#again = true;
          this.#backlog.take(queue);
          try {
            // A worker is ready, so the lifecycle is loaded.
            if (this.#engine.lifecycle!.admits(this.#engine, call)) worker.post(call);
          } catch (reason) {
            this.#engine.refuse(call, reason);
          }
        }
      }
    }
    this.#running = false;
    if (this.#backlog.length > 0 && !this.#workers.complete) this.#grow();
  }

  /** Sends a call without the queue, if no call waits and a worker is free. Returns false if the call must wait. */
  sendNow(call: PoolCall): boolean {
    if (this.#backlog.length > 0 || call.task.index < 0 || call.isStream || call.deep) return false;
    const worker = this.#workerFor(call);
    worker?.post(call);
    return worker !== undefined;
  }

  #workerFor(call: PoolCall): PoolWorker | undefined {
    const { all } = this.#workers;
    const { concurrency } = this.#settings;
    if (call.options.workerIndex < 0) return choose(all, call, concurrency, this.#mayWait);
    const worker = all[call.options.workerIndex];
    if (!worker || !accepts(worker, call, concurrency, this.#mayWait)) return undefined;
    const first = this.#backlog.shared.peek();
    // A call without a key goes first if it has a higher priority. With the same priority, the call that came first goes first.
    const behind = first && (first.priority - call.priority || call.id - first.id) > 0;
    // A worker that runs one call at once keeps the order of its calls anyway.
    if (behind || (concurrency > 1 && hasKey(worker, call))) return undefined;
    // A worker that gave its index to this one may still have such a call.
    for (const old of this.#workers.outgoing) if (old.index === worker.index && hasKey(old, call)) return undefined;
    return worker;
  }

  // `isLate` says that calls have waited for longer than expected.
  #grow(isLate = false): void {
    const { shared, queues } = this.#backlog;
    queues.forEach((queue, at) => {
      if (queue !== shared && queue.length > 0) this.#workers.start(at);
    });
    const first = shared.peek();
    const { meanUs } = first?.task.estimate ?? {};
    const soonDone =
      this.#mayWait && meanUs !== undefined && meanUs * shared.length < startUs && this.#workers.count("ready") > 0;
    if (soonDone && !isLate) this.#lookAgain(first!);
    else {
      for (let wanted = shared.length - this.#workers.starting.length; wanted > 0; wanted--) {
        if (!this.#workers.start()) break;
      }
    }
    // A call waits for these workers, so they keep the process alive until they are ready.
    for (const worker of this.#workers) if (worker.life.state === "starting") worker.setRef(true);
  }

  // Looks after the time of a worker's start whether `first` still waits. It then waits for a call that takes longer than expected.
  #lookAgain(first: PoolCall): void {
    if (this.#isWatching) return;
    this.#isWatching = true;
    const timer = timeLimit(startUs / 1_000, () => {
      this.#isWatching = false;
      if (this.#backlog.length > 0 && !this.#workers.complete) this.#grow(this.#backlog.shared.peek() === first);
    });
    unref(timer);
  }
}
