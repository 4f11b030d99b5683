// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Settings } from "../options.js";
import type { WorkerState } from "../worker/state.js";
import type { PoolWorker, WorkerCall } from "../worker/worker.js";
import type { WorkerSet } from "../worker/worker-set.js";
import type { Backlog, BacklogCall } from "./backlog.js";
import { type Estimate, mayGoAhead } from "./task-stats.js";

// Time that the start of a worker takes, in microseconds: 15 ms in Node and 6 to 12 ms in Chromium, measured. If the waiting calls will
// finish sooner, another worker does not help.
const startUs = 15_000;

// If a worker that is awake has less expected work than this, in microseconds, it takes the call. Waking another worker costs 20 to 50 us
// on a virtual machine.
const wakeUs = 50;

/** The part of a call that the scheduler reads. */
export interface Schedulable<Call extends Schedulable<Call>> extends WorkerCall<Call>, BacklogCall {
  readonly options: WorkerCall<Call>["options"] & {
    readonly workerIndex: number;
    readonly key: string | number | symbol | undefined;
  };
  readonly record: { readonly name: string; readonly index: number; readonly estimate: Estimate };
  readonly isStream: boolean;
  /** Whether the arguments may be nested too deep for a worker to read. */
  readonly deep: boolean;
}

/** Decides about waiting calls. The engine implements it. */
export interface Gate<Call> {
  /** Returns whether a call may be sent now. If not, the gate has already ended the call or taken it out of the queue. */
  admits(call: Call): boolean;
  /** Ends a call whose arguments cannot be sent to a worker. */
  refuse(call: Call, reason: unknown): void;
}

/** The part of a worker that the choice of a worker reads. */
interface Candidate {
  readonly life: { readonly state: WorkerState };
  readonly load: number;
  readonly guarded: number;
  readonly busyUs: number;
  readonly tasksRun: number;
}

/** The part of a call that the choice of a worker reads. */
interface Choosing {
  readonly guarded: boolean;
  readonly record: { readonly estimate: Estimate };
}

/** Returns whether a worker may take this call now. `ahead` is whether short calls may wait at a busy worker. */
export function accepts(worker: Candidate, call: Choosing, concurrency: number, ahead = true): boolean {
  if (worker.life.state !== "ready") return false;
  if (worker.load < concurrency) return true;
  // Sends the call ahead: to a busy worker, where it waits for short calls to end. A guarded call (one that the pool may have to stop while
  // it runs) is never sent ahead, and no call is sent ahead to a worker that has a guarded call. To stop a guarded call, the pool may have
  // to kill the worker.
  return ahead && !call.guarded && worker.guarded === 0 && mayGoAhead(call.record.estimate, worker.busyUs);
}

/**
 * Chooses the worker for a call. A short task goes to a worker that is awake, if that is cheaper than waking another one. Any other task
 * goes to the worker with the lowest load. Among workers with equal load, the most used one is chosen, because its caches are warm.
 */
export function choose<Worker extends Candidate>(
  all: readonly (Worker | undefined)[],
  call: Choosing,
  concurrency: number,
  ahead = true,
): Worker | undefined {
  let best: Worker | undefined;
  // Iterates by index. Every call runs this loop, and an iterator would allocate three objects.
  for (let at = 0; at < all.length; at++) {
    const worker = all[at];
    if (!worker || !accepts(worker, call, concurrency, ahead)) continue;
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

// Returns whether the worker has an open call with the same key. Needed only if a worker runs several calls at once. Otherwise it keeps the
// order of its calls anyway.
function hasKey<Call extends Schedulable<Call>>(worker: PoolWorker<Call>, { options }: Call): boolean {
  return worker.calls.values().some((each) => each.counted && each.options.key === options.key);
}

/** Assigns waiting calls to free workers. Starts workers if that is worth the time. */
export class Scheduler<Call extends Schedulable<Call>> {
  readonly #settings: Settings;
  readonly #backlog: Backlog<Call>;
  readonly #workers: WorkerSet<Call>;
  readonly #gate: Gate<Call>;
  /** Whether a call may wait for another one. */
  readonly #mayWait: boolean;
  #running = false;
  #again = false;

  constructor(settings: Settings, backlog: Backlog<Call>, workers: WorkerSet<Call>, gate: Gate<Call>) {
    this.#settings = settings;
    this.#mayWait = settings.queue.items > 0;
    this.#backlog = backlog;
    this.#workers = workers;
    this.#gate = gate;
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

  /** Sends a call without the queue, if no call waits and a worker is free. Returns false if the call must wait. */
  sendNow(call: Call): boolean {
    if (this.#backlog.length > 0 || call.record.index < 0 || call.isStream || call.deep) return false;
    const worker = this.#workerFor(call);
    worker?.post(call);
    return worker !== undefined;
  }

  #workerFor(call: Call): PoolWorker<Call> | undefined {
    const { all } = this.#workers;
    const { concurrency } = this.#settings;
    if (call.options.workerIndex < 0) return choose(all, call, concurrency, this.#mayWait);
    const worker = all[call.options.workerIndex];
    if (!worker || !accepts(worker, call, concurrency, this.#mayWait)) return undefined;
    const first = this.#backlog.shared.peek();
    // A call without a key goes first if it has a higher priority. With the same priority, the call that came first goes first.
    const behind = first && (first.priority - call.priority || call.id - first.id) > 0;
    return behind || (concurrency > 1 && hasKey(worker, call)) ? undefined : worker;
  }

  #grow(): void {
    const { shared, queues } = this.#backlog;
    queues.forEach((queue, at) => {
      if (queue !== shared && queue.length > 0) this.#workers.start(at);
    });
    const { meanUs } = shared.peek()?.record.estimate ?? {};
    const soonDone =
      this.#mayWait && meanUs !== undefined && meanUs * shared.length < startUs && this.#workers.count("ready") > 0;
    if (!soonDone) {
      for (let wanted = shared.length - this.#workers.starting.length; wanted > 0; wanted--) {
        if (!this.#workers.start()) break;
      }
    }
    // A call waits for these workers, so they keep the process alive until they are ready.
    for (const worker of this.#workers) if (worker.life.state === "starting") worker.setRef(true);
  }
}
