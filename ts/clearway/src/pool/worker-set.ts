// SPDX-License-Identifier: MIT OR Apache-2.0
import type { ClearwayError } from "../error/clearway-error.js";
import type { Timer } from "../lazy/timer.js";
import type { Engine } from "./engine.js";
import { PoolWorker, type WorkerSource } from "./worker.js";

/** The workers of a pool: where they stand, and how they start. Knows nothing of the calls that wait. */
export class WorkerSet {
  readonly all: (PoolWorker | undefined)[];
  readonly #source: WorkerSource;
  readonly #engine: Engine;
  /** Workers whose places others have by now. */
  readonly outgoing = new Set<PoolWorker>();
  size = 0;
  restarts = 0;
  /** No worker is started any more. */
  stopped = false;
  /** None is started until then. */
  resting: Timer | undefined;

  constructor(source: WorkerSource, engine: Engine) {
    this.#source = source;
    this.#engine = engine;
    this.all = new Array(engine.settings.max).fill(undefined);
  }

  *[Symbol.iterator](): Generator<PoolWorker> {
    for (const worker of this.all) if (worker) yield worker;
    yield* this.outgoing;
  }

  count(state: PoolWorker["life"]["state"]): number {
    return this.all.filter((worker) => worker?.life.state === state).length;
  }

  /** Workers that start, and have no call yet. */
  get starting(): PoolWorker[] {
    return this.all.filter((worker) => worker?.life.state === "starting" && !worker.load) as PoolWorker[];
  }

  /** Whether every place has a worker that is ready: there is nobody to start, and nobody to wait for. */
  get complete(): boolean {
    for (const worker of this.all) if (worker?.life.state !== "ready") return false;
    return true;
  }

  /** Starts a worker at this place, or at the first free one. Returns undefined when there is none, or it cannot be made. */
  start(place = this.all.indexOf(undefined)): PoolWorker | undefined {
    if (this.stopped || this.resting || place < 0 || this.all[place]) return undefined;
    try {
      const worker = new PoolWorker(place, this.#source, this.#engine);
      this.put(place, worker);
      return worker;
    } catch (reason) {
      this.#engine.startFailed(place, reason);
      return undefined;
    }
  }

  /** Starts as many as there should always be. */
  fill(): void {
    while (this.size < this.#engine.settings.min && this.start());
  }

  /** Ends every thread at once. */
  async terminate(why: ClearwayError): Promise<void> {
    this.stopped = true;
    clearTimeout(this.resting);
    await Promise.all([...this].map((worker) => worker.kill(why)));
  }

  put(place: number, worker: PoolWorker | undefined): void {
    this.all[place] = worker;
    this.size += worker ? 1 : -1;
  }
}
