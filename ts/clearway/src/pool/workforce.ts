// SPDX-License-Identifier: MIT OR Apache-2.0
import type { ClearwayError } from "../error/clearway-error.js";
import type { Engine } from "./engine.js";
import { Slot, type WorkerSource } from "./slot.js";
import type { Timer } from "./timer.js";

/** The workers of a pool: where they stand, and how they start. Knows nothing of the calls that wait. */
export class Workforce {
  readonly slots: (Slot | undefined)[];
  readonly #source: WorkerSource;
  readonly #engine: Engine;
  /** Workers whose places others have by now. */
  readonly outgoing = new Set<Slot>();
  size = 0;
  restarts = 0;
  /** No worker is started any more. */
  stopped = false;
  /** None is started until then. */
  resting: Timer | undefined;

  constructor(source: WorkerSource, engine: Engine) {
    this.#source = source;
    this.#engine = engine;
    this.slots = new Array(engine.settings.max).fill(undefined);
  }

  *[Symbol.iterator](): Generator<Slot> {
    for (const slot of this.slots) if (slot) yield slot;
    yield* this.outgoing;
  }

  count(state: Slot["life"]["state"]): number {
    return this.slots.filter((slot) => slot?.life.state === state).length;
  }

  /** Workers that start, and have no call yet. */
  get starting(): Slot[] {
    return this.slots.filter((slot) => slot?.life.state === "starting" && !slot.load) as Slot[];
  }

  /** Whether every place has a worker that is ready: there is nobody to start, and nobody to wait for. */
  get complete(): boolean {
    for (const slot of this.slots) if (slot?.life.state !== "ready") return false;
    return true;
  }

  /** Starts a worker at this place, or at the first free one. Returns undefined when there is none, or it cannot be made. */
  start(place = this.slots.indexOf(undefined)): Slot | undefined {
    if (this.stopped || this.resting || place < 0 || this.slots[place]) return undefined;
    try {
      const slot = new Slot(place, this.#source, this.#engine);
      this.put(place, slot);
      return slot;
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
    await Promise.all([...this].map((slot) => slot.kill(why)));
  }

  put(place: number, slot: Slot | undefined): void {
    this.slots[place] = slot;
    this.size += slot ? 1 : -1;
  }
}
