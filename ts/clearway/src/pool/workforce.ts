// SPDX-License-Identifier: MIT OR Apache-2.0
import { now } from "#host";
import { ClearwayError } from "../error/clearway-error.js";
import { Slot, type WorkerSource } from "./slot.js";
import type { SlotOwner } from "./slot-owner.js";
import { after } from "./timer.js";

// How long a worker may take to close its resources before it is ended in any case.
const closeLimitMs = 5_000;
// A worker that died sooner than this after its start, without finishing a task, is not replaced before it is needed.
const provenMs = 1_000;

/** The workers of a pool: grows, shrinks, recycles and replaces them. Knows nothing of the calls that wait. */
export class Workforce {
  readonly slots: (Slot | undefined)[];
  readonly #source: WorkerSource;
  readonly #owner: SlotOwner;
  readonly #leaving = new Set<Promise<void>>();
  /** Workers whose places others have by now. */
  readonly #outgoing = new Set<Slot>();
  restarts = 0;
  #stopped = false;

  constructor(source: WorkerSource, owner: SlotOwner) {
    this.#source = source;
    this.#owner = owner;
    this.slots = new Array(owner.settings.max).fill(undefined);
  }

  *[Symbol.iterator](): Generator<Slot> {
    for (const slot of this.slots) if (slot) yield slot;
    yield* this.#outgoing;
  }

  get size(): number {
    return this.slots.reduce((sum, slot) => sum + (slot ? 1 : 0), 0);
  }

  count(state: Slot["life"]["state"]): number {
    return this.slots.filter((slot) => slot?.life.state === state).length;
  }

  /** Starts a worker at this place, or at the first free one. Returns undefined when there is none, or it cannot be made. */
  start(place = this.slots.indexOf(undefined)): Slot | undefined {
    if (this.#stopped || place < 0 || this.slots[place]) return undefined;
    try {
      const slot = new Slot(place, this.#source, this.#owner);
      this.slots[place] = slot;
      return slot;
    } catch (reason) {
      this.#owner.startFailed(place, reason);
      return undefined;
    }
  }

  /** Starts as many as there should always be. */
  fill(): void {
    while (!this.#stopped && this.size < this.#owner.settings.min && this.start());
  }

  /** A worker has nothing to do: it may be recycled now, or shrunk away later. */
  idle(slot: Slot): void {
    // One that closes its resources keeps the process until it is done.
    if (slot.life.state === "closing") return;
    slot.setRef(false);
    // A half-read stream may wait for its reader for long, and nobody else may have to wait for that.
    if (slot.calls.size === 0 && this.#worn(slot)) return this.retire(slot);
    const { min, idleMs } = this.#owner.settings;
    if (this.size <= min || !Number.isFinite(idleMs)) return;
    slot.idleSinceMs = now();
    // One timer at a time, which looks again when it was early: arming one a call would cost more than the call.
    if (!slot.idleTimer) this.#armShrink(slot, idleMs);
  }

  #armShrink(slot: Slot, ms: number): void {
    slot.idleTimer = after(ms, () => {
      slot.idleTimer = undefined;
      const { min, idleMs } = this.#owner.settings;
      if (slot.calls.size > 0 || this.size <= min) return;
      const leftMs = slot.idleSinceMs + idleMs - now();
      // A timer may fire a fraction of a millisecond early.
      if (leftMs > 1) this.#armShrink(slot, leftMs);
      else this.retire(slot);
    });
    (slot.idleTimer as { unref?(): void }).unref?.();
  }

  #worn(slot: Slot): boolean {
    const { tasks, ageMs, heapMb } = this.#owner.settings.recycle;
    if (slot.tasksRun >= tasks || slot.heapBytes >= heapMb * 2 ** 20) return true;
    return Number.isFinite(ageMs) && now() - slot.startedMs >= ageMs;
  }

  /** A worker has something to do. */
  busy(slot: Slot): void {
    slot.setRef(true);
  }

  /** Lets a worker finish what it has, close its resources and end. */
  retire(slot: Slot): void {
    this.#act(slot, slot.life.drain(slot.calls.size));
  }

  /** A call left a worker that may be waiting for that. */
  left(slot: Slot): void {
    this.#act(slot, slot.life.drained(slot.calls.size));
  }

  /** A worker is gone. */
  gone(slot: Slot, outcome: ReturnType<Slot["life"]["exit"]>): void {
    if (this.slots[slot.index] === slot) this.slots[slot.index] = undefined;
    this.#outgoing.delete(slot);
    if (outcome === "crashed") this.restarts++;
    const proven = slot.tasksRun > 0 || now() - slot.startedMs > provenMs;
    if (outcome !== "failedToStart" && proven) this.fill();
  }

  /** Gives a worker's place to another at once. It goes on with the calls that it has, for as long as they take. */
  supersede(slot: Slot): void {
    if (this.slots[slot.index] !== slot) return;
    this.slots[slot.index] = undefined;
    this.#outgoing.add(slot);
    this.fill();
  }

  /** Ends every worker, after its resources are closed. New ones are no longer started. */
  async close(): Promise<void> {
    this.#stopped = true;
    for (const slot of this) this.retire(slot);
    await Promise.all(this.#leaving);
    await this.terminate(closedError());
  }

  /** Ends every thread at once. */
  async terminate(why: ClearwayError): Promise<void> {
    this.#stopped = true;
    await Promise.all([...this].map((slot) => slot.kill(why)));
  }

  #act(slot: Slot, action: "wait" | "close" | "kill" | "nothing"): void {
    if (action !== "close" && action !== "kill") return;
    clearTimeout(slot.idleTimer);
    const leaving = action === "close" ? slot.close(closeLimitMs) : slot.kill(closedError());
    this.#leaving.add(leaving);
    void leaving.then(() => this.#leaving.delete(leaving));
  }
}

function closedError(): ClearwayError {
  return new ClearwayError("pool-closed", "the pool is closed");
}
