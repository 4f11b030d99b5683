// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Settings } from "../options.js";
import type { PoolWorker, WorkerCall, WorkerState } from "../worker/worker.js";
import type { WorkerSet } from "../worker/worker-set.js";
import type { Backlog, BacklogCall } from "./backlog.js";
import { type Estimate, mayGoAhead } from "./task-stats.js";

// A worker's start takes 15 ms in Node and 6 to 12 ms in Chromium, measured. If the waiting calls will be done sooner, starting another
// worker does not help.
const startUs = 15_000;

// With less expected work than this, a worker that is awake takes the call. Waking another one costs 20 to 50 us on a virtual machine.
const wakeUs = 50;

/** A call as the scheduler reads it. */
export interface Schedulable<Call extends Schedulable<Call>> extends WorkerCall<Call>, BacklogCall {
  readonly options: { readonly place: number; readonly key: string | number | undefined };
  readonly record: { readonly name: string; readonly index: number; readonly estimate: Estimate };
  readonly isStream: boolean;
  /** Whether the arguments may be nested too deep for a worker to read. */
  readonly deep: boolean;
}

/** Decides about calls that have waited. The engine implements it. */
export interface Gate<Call> {
  /** Whether a call may leave now. If not, the gate has dealt with it. */
  admits(call: Call): boolean;
  /** Ends a call that cannot cross. */
  refuse(call: Call, reason: unknown): void;
}

/** A worker as the choice of a worker reads it. */
interface Candidate {
  readonly life: { readonly state: WorkerState };
  readonly load: number;
  readonly guarded: number;
  readonly busyUs: number;
  readonly tasksRun: number;
}

/** A call as the choice of a worker reads it. */
interface Choosing {
  readonly guarded: boolean;
  readonly record: { readonly estimate: Estimate };
}

/** Whether a worker may take this call now. */
export function accepts(worker: Candidate, call: Choosing, concurrency: number): boolean {
  if (worker.life.state !== "ready") return false;
  if (worker.load < concurrency) return true;
  // Sent ahead, behind short calls. A guarded call is never sent ahead, and no call is sent behind one: the pool may have to kill the
  // worker to stop it.
  return !call.guarded && worker.guarded === 0 && mayGoAhead(call.record.estimate, worker.busyUs);
}

/**
 * Chooses the worker for a call. A short task goes to a worker that is awake, while that is cheaper than waking another one. Any other
 * task goes to the worker with the lowest load, and among equals to the most used one, whose caches are warm.
 */
export function choose<Worker extends Candidate>(
  all: readonly (Worker | undefined)[],
  call: Choosing,
  concurrency: number,
): Worker | undefined {
  let best: Worker | undefined;
  // By index, because every call comes through here and an iterator allocates three objects.
  for (let at = 0; at < all.length; at++) {
    const worker = all[at];
    if (!worker || !accepts(worker, call, concurrency)) continue;
    if (
      worker.load > 0 &&
      call.record.estimate.short &&
      worker.busyUs < wakeUs &&
      !call.guarded &&
      worker.guarded === 0
    )
      return worker;
    if (!best || worker.load < best.load || (worker.load === best.load && worker.tasksRun > best.tasksRun)) {
      best = worker;
    }
  }
  return best;
}

// Whether the worker has an open call with the same key. A worker that runs one call at a time keeps the order of its calls anyway.
function hasKey<Call extends Schedulable<Call>>(worker: PoolWorker<Call>, { options }: Call): boolean {
  return worker.calls.values().some((each) => each.counted && each.options.key === options.key);
}

/** Matches waiting calls with free workers, and starts workers when that is worth it. */
export class Scheduler<Call extends Schedulable<Call>> {
  readonly #settings: Settings;
  readonly #backlog: Backlog<Call>;
  readonly #workers: WorkerSet<Call>;
  readonly #gate: Gate<Call>;
  #running = false;
  #again = false;

  constructor(settings: Settings, backlog: Backlog<Call>, workers: WorkerSet<Call>, gate: Gate<Call>) {
    this.#settings = settings;
    this.#backlog = backlog;
    this.#workers = workers;
    this.#gate = gate;
  }

  /** Sends every waiting call that can leave. Call it after any change. It may be called from within itself. */
  run(): void {
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
            if (this.#gate.admits(call)) worker.post(call);
          } catch (reason) {
            this.#gate.refuse(call, reason);
          }
        }
      }
    }
    this.#running = false;
    if (this.#backlog.length > 0 && !this.#workers.complete) this.#grow();
  }

  /** Sends a call without queueing it, if no call waits and a worker is free. Returns false if the call must wait. */
  sendNow(call: Call): boolean {
    if (this.#backlog.length > 0 || call.record.index < 0 || call.isStream || call.deep) return false;
    const worker = this.#workerFor(call);
    worker?.post(call);
    return worker !== undefined;
  }

  #workerFor(call: Call): PoolWorker<Call> | undefined {
    const { all } = this.#workers;
    const { concurrency } = this.#settings;
    if (call.options.place < 0) return choose(all, call, concurrency);
    const worker = all[call.options.place];
    if (!worker || !accepts(worker, call, concurrency)) return undefined;
    const first = this.#backlog.shared.peek();
    // A call without a key goes first if it has a higher priority, or the same priority and came earlier.
    const behind = first && (first.priority - call.priority || call.id - first.id) > 0;
    return behind || (concurrency > 1 && hasKey(worker, call)) ? undefined : worker;
  }

  #grow(): void {
    const { shared, queues } = this.#backlog;
    queues.forEach((queue, at) => {
      if (queue !== shared && queue.length > 0) this.#workers.start(at);
    });
    const { meanUs } = shared.peek()?.record.estimate ?? {};
    const soonDone = meanUs !== undefined && meanUs * shared.length < startUs && this.#workers.count("ready") > 0;
    if (!soonDone) {
      for (let wanted = shared.length - this.#workers.starting.length; wanted > 0; wanted--) {
        if (!this.#workers.start()) break;
      }
    }
    // A call waits for these workers, so the process must not end before they are ready.
    for (const worker of this.#workers) if (worker.life.state === "starting") worker.setRef(true);
  }
}
