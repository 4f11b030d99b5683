// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError, messageOf } from "../../error/clearway-error.js";
import type { Timer } from "../../globals.js";
import { clearTimeout, OwnPromise } from "../../globals.js";
import type { Engine } from "../engine.js";
import { startFailure } from "./start-failure.js";
import { PoolWorker, type WorkerState } from "./worker.js";

/** Returns the error for a call that comes after `close()`, or that takes longer than `close()` waits. */
export function poolClosed(more = ""): ClearwayError {
  return new ClearwayError("pool-closed", `the pool is closed${more}`);
}

/** The workers of a pool, by index. Starts and ends them. */
export class WorkerSet {
  readonly all: (PoolWorker | undefined)[];
  readonly #engine: Engine;
  /** Workers that finish their calls after another worker took over their index. */
  readonly outgoing = new Set<PoolWorker>();
  size = 0;
  restarts = 0;
  /** Whether the set has stopped starting workers. */
  stopped = false;
  /** Timer of a pause between restarts. The set starts no worker during the pause. */
  restartTimer: Timer | undefined;
  /** The promises of `ready()`. */
  #readyWaiters: { resolve(): void; reject(why: unknown): void }[] = [];

  constructor(engine: Engine) {
    this.#engine = engine;
    this.all = new Array(engine.settings.max).fill(undefined);
  }

  *[Symbol.iterator](): Generator<PoolWorker> {
    for (const worker of this.all) if (worker) yield worker;
    yield* this.outgoing;
  }

  count(state: WorkerState): number {
    return this.all.filter((worker) => worker?.life.state === state).length;
  }

  /** Workers that are starting and have no call yet. */
  get starting(): PoolWorker[] {
    return this.all.filter((worker) => worker?.life.state === "starting" && !worker.load) as PoolWorker[];
  }

  /** Whether every index has a ready worker. */
  get complete(): boolean {
    for (const worker of this.all) if (worker?.life.state !== "ready") return false;
    return true;
  }

  /**
   * Returns the number of calls that the worker at `index` can take now or once it has started, or all workers if the index is -1. Workers
   * that could be started count, too.
   */
  spare(index: number): number {
    const { concurrency } = this.#engine.settings;
    let spare = 0;
    this.all.forEach((worker, at) => {
      if (index >= 0 && at !== index) return;
      if (!worker) spare += this.restartTimer ? 0 : concurrency;
      else if (worker.life.state === "ready" || worker.life.state === "starting")
        spare += Math.max(0, concurrency - worker.load);
    });
    return spare;
  }

  /** Starts a worker at `index`, by default at the first free index. Returns undefined if no index is free or the worker cannot be made. */
  start(index = this.all.indexOf(undefined)): PoolWorker | undefined {
    if (this.stopped || this.restartTimer || index < 0 || this.all[index]) return undefined;
    try {
      const worker = new PoolWorker(index, this.#engine);
      this.put(index, worker);
      return worker;
    } catch (reason) {
      this.startFailed(index, reason);
      return undefined;
    }
  }

  /** Starts workers until there are at least `min`. */
  fill(): void {
    while (this.size < this.#engine.settings.min && this.start());
  }

  /** Settles when a worker is ready. Rejects if no worker can be started. */
  async ready(): Promise<void> {
    if (this.count("ready") > 0) return;
    await new OwnPromise<void>((resolve, reject) => {
      this.#readyWaiters.push({ resolve, reject });
      this.startForReady();
    });
  }

  /** Settles the promises of `ready()`. Rejects them if `failure` is given. */
  settleReady(failure?: ClearwayError): void {
    for (const { resolve, reject } of this.#readyWaiters.splice(0)) failure ? reject(failure) : resolve();
  }

  /**
   * Starts a worker if a caller waits for `ready()` and no worker is ready or starting. The start is also needed when the last worker is about
   * to end and no call waits.
   */
  startForReady(): void {
    if (this.#readyWaiters.length === 0) return;
    if (this.noneComes) this.start();
    for (const worker of this) worker.setRef(true);
  }

  /** Whether no worker is ready or starting. */
  get noneComes(): boolean {
    return this.count("ready") + this.count("starting") === 0;
  }

  /** Called when the host or the app's factory could not make a worker, or when too many workers have exited in a row. */
  startFailed(index: number, reason: unknown): void {
    this.#failStart(index, startFailure(this.#engine, messageOf(reason), reason));
  }

  // Fails the calls that would wait for a worker that does not come. If another worker is ready or starting, only the calls for this index
  // fail. Otherwise all waiting calls fail now. The pool does not try to load a broken module again for the same calls. The next call tries
  // again.
  #failStart(index: number, why: ClearwayError): void {
    const none = this.noneComes;
    if (none) this.settleReady(why);
    this.#engine.giveUp(why, none ? undefined : index);
    this.#engine.backlog.offerRoom();
  }

  /** Handles the exit of a worker that was not ready. */
  neverReady(worker: PoolWorker, why: ClearwayError): void {
    const { lifecycle, settings } = this.#engine;
    worker.life.exit(false);
    // The pool itself ends workers with `pool-closed` or `pool-terminated`.
    const error = why.code.startsWith("pool-") ? undefined : why;
    settings.onWorker({ type: "exited", worker: worker.index, error });
    lifecycle?.bringBack(this.#engine, worker, why);
    this.put(worker.index, undefined);
    this.#failStart(worker.index, why);
  }

  /** Ends every thread at once. Open calls fail with `why`. See `PoolWorker.kill` for `limitMs`. */
  async terminate(why: ClearwayError, limitMs?: number): Promise<void> {
    this.stopped = true;
    clearTimeout(this.restartTimer);
    await OwnPromise.all([...this].map((worker) => worker.kill(why, limitMs)));
  }

  put(index: number, worker: PoolWorker | undefined): void {
    this.all[index] = worker;
    this.size += worker ? 1 : -1;
  }
}
