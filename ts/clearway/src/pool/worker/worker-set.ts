// SPDX-License-Identifier: MIT OR Apache-2.0
import type { ClearwayError } from "../../error/clearway-error.js";
import type { Timer } from "../../globals.js";
import { clearTimeout, OwnPromise } from "../../globals.js";
import type { WorkerState } from "./state.js";
import { PoolWorker, type WorkerCall, type WorkerSink, type WorkerSource } from "./worker.js";

/** The workers of a pool, by index. Starts and ends them. */
export class WorkerSet<Call extends WorkerCall<Call>> {
  readonly all: (PoolWorker<Call> | undefined)[];
  readonly #source: WorkerSource;
  readonly #sink: WorkerSink<Call>;
  /** Workers that finish their calls after another worker took over their index. */
  readonly outgoing = new Set<PoolWorker<Call>>();
  size = 0;
  restarts = 0;
  /** Whether the set has stopped starting workers. */
  stopped = false;
  /** Timer of a pause between restarts. The set starts no worker during the pause. */
  restartTimer: Timer | undefined;

  constructor(source: WorkerSource, sink: WorkerSink<Call>) {
    this.#source = source;
    this.#sink = sink;
    this.all = new Array(sink.settings.max).fill(undefined);
  }

  *[Symbol.iterator](): Generator<PoolWorker<Call>> {
    for (const worker of this.all) if (worker) yield worker;
    yield* this.outgoing;
  }

  count(state: WorkerState): number {
    return this.all.filter((worker) => worker?.life.state === state).length;
  }

  /** Workers that are starting and have no call yet. */
  get starting(): PoolWorker<Call>[] {
    return this.all.filter((worker) => worker?.life.state === "starting" && !worker.load) as PoolWorker<Call>[];
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
    const { concurrency } = this.#sink.settings;
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
  start(index = this.all.indexOf(undefined)): PoolWorker<Call> | undefined {
    if (this.stopped || this.restartTimer || index < 0 || this.all[index]) return undefined;
    try {
      const worker = new PoolWorker(index, this.#source, this.#sink);
      this.put(index, worker);
      return worker;
    } catch (reason) {
      this.#sink.startFailed(index, reason);
      return undefined;
    }
  }

  /** Starts workers until there are at least `min`. */
  fill(): void {
    while (this.size < this.#sink.settings.min && this.start());
  }

  /** Ends every thread at once. Open calls fail with `why`. See `PoolWorker.kill` for `limitMs`. */
  async terminate(why: ClearwayError, limitMs?: number): Promise<void> {
    this.stopped = true;
    clearTimeout(this.restartTimer);
    await OwnPromise.all([...this].map((worker) => worker.kill(why, limitMs)));
  }

  put(index: number, worker: PoolWorker<Call> | undefined): void {
    this.all[index] = worker;
    this.size += worker ? 1 : -1;
  }
}
