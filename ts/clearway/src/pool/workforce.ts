// SPDX-License-Identifier: MIT OR Apache-2.0
import { now } from "#host";
import type { ClearwayError } from "../error/clearway-error.js";
import type { Engine } from "./engine.js";
import { Slot, type WorkerSource } from "./slot.js";
import { after } from "./timer.js";
import { poolClosed } from "./worker-failure.js";

// A worker that died sooner than this after its start, without finishing a task, is not replaced before it is needed.
const provenMs = 1_000;

/** The workers of a pool: grows, shrinks, recycles and replaces them. Knows nothing of the calls that wait. */
export class Workforce {
  readonly slots: (Slot | undefined)[];
  readonly #source: WorkerSource;
  readonly #engine: Engine;
  /** Workers whose places others have by now. */
  readonly #outgoing = new Set<Slot>();
  size = 0;
  restarts = 0;
  #stopped = false;

  constructor(source: WorkerSource, engine: Engine) {
    this.#source = source;
    this.#engine = engine;
    this.slots = new Array(engine.settings.max).fill(undefined);
  }

  *[Symbol.iterator](): Generator<Slot> {
    for (const slot of this.slots) if (slot) yield slot;
    yield* this.#outgoing;
  }

  count(state: Slot["life"]["state"]): number {
    return this.slots.filter((slot) => slot?.life.state === state).length;
  }

  /** Whether every place has a worker that is ready: there is nobody to start, and nobody to wait for. */
  get complete(): boolean {
    for (const slot of this.slots) if (slot?.life.state !== "ready") return false;
    return true;
  }

  /** Starts a worker at this place, or at the first free one. Returns undefined when there is none, or it cannot be made. */
  start(place = this.slots.indexOf(undefined)): Slot | undefined {
    if (this.#stopped || place < 0 || this.slots[place]) return undefined;
    try {
      const slot = new Slot(place, this.#source, this.#engine);
      this.#put(place, slot);
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

  /** A call left a worker, or it became less busy: it may close, be recycled now, or be shrunk away later. */
  eased(slot: Slot): void {
    this.#act(slot, slot.life.drained(slot.calls.size));
    // One that closes its resources keeps the process until it is done.
    if (slot.load > 0 || slot.life.state === "closing") return;
    slot.setRef(false);
    // A half-read stream may wait for its reader for long, and nobody else may have to wait for that.
    if (slot.calls.size === 0 && this.#worn(slot)) return this.retire(slot);
    const { min, idleMs } = this.#engine.settings;
    if (this.size <= min || idleMs === Number.POSITIVE_INFINITY) return;
    slot.idleSinceMs = now();
    // One timer at a time, which looks again when it was early: arming one a call would cost more than the call.
    if (!slot.idleTimer) this.#armShrink(slot, idleMs);
  }

  #armShrink(slot: Slot, ms: number): void {
    slot.idleTimer = after(ms, () => {
      slot.idleTimer = undefined;
      const { min, idleMs } = this.#engine.settings;
      if (slot.calls.size > 0 || this.size <= min) return;
      const leftMs = slot.idleSinceMs + idleMs - now();
      // A timer may fire a fraction of a millisecond early.
      if (leftMs > 1) this.#armShrink(slot, leftMs);
      else this.retire(slot);
    });
    (slot.idleTimer as { unref?(): void }).unref?.();
  }

  #worn(slot: Slot): boolean {
    const { tasks, ageMs, heapMb } = this.#engine.settings.recycle;
    if (slot.tasksRun >= tasks || slot.heapBytes >= heapMb * 2 ** 20) return true;
    return ageMs < Number.POSITIVE_INFINITY && now() - slot.startedMs >= ageMs;
  }

  /** Lets a worker finish what it has, close its resources and end. */
  retire(slot: Slot): void {
    this.#act(slot, slot.life.drain(slot.calls.size));
  }

  /** A worker is gone; `killed`: because it had to be. */
  gone(slot: Slot, outcome: ReturnType<Slot["life"]["exit"]>, killed: boolean): void {
    if (this.slots[slot.index] === slot) this.#put(slot.index, undefined);
    this.#outgoing.delete(slot);
    if (outcome === "crashed" || killed) this.restarts++;
    const proven = slot.tasksRun > 0 || now() - slot.startedMs > provenMs;
    if (outcome !== "failedToStart" && proven) this.fill();
  }

  /** Gives a worker's place to another at once. It goes on with the calls that it has, for as long as they take. */
  supersede(slot: Slot): void {
    if (this.slots[slot.index] !== slot) return;
    this.#put(slot.index, undefined);
    this.#outgoing.add(slot);
    this.fill();
  }

  /** Ends every worker, after its resources are closed. New ones are no longer started. */
  async close(): Promise<void> {
    this.#stopped = true;
    for (const slot of this) this.retire(slot);
    await Promise.all([...this].map((slot) => slot.leaving));
    await this.terminate(poolClosed());
  }

  /** Ends every thread at once. */
  async terminate(why: ClearwayError): Promise<void> {
    this.#stopped = true;
    await Promise.all([...this].map((slot) => slot.kill(why)));
  }

  #put(place: number, slot: Slot | undefined): void {
    this.slots[place] = slot;
    this.size += slot ? 1 : -1;
  }

  #act(slot: Slot, action: "wait" | "close" | "kill" | "nothing"): void {
    if (action === "close") slot.close();
    else if (action === "kill") void slot.kill(poolClosed());
  }
}
