// SPDX-License-Identifier: MIT OR Apache-2.0
import { SendCredit } from "../../stream/credit.js";

/** What happens to an event when the queue to the listener is full. */
export type WhenFull = "wait" | "fail" | "dropOldest" | "dropNewest";

/** Bytes of the events that wait for one peer, over all of its streams: whatever capacities it asks for, these are bounded. */
export interface QueueCharge {
  bytes: number;
  readonly bytesMax: number;
}

/** How many events may wait for the listener. */
export interface QueueLimits {
  readonly whenFull: WhenFull;
  readonly capacity: number;
}

/**
 * Events on their way to a listener: those that have no credit yet, up to a capacity. A pure value; whoever drives it sends what
 * `next` gives.
 */
export class SourceQueue<T> {
  readonly credit = new SendCredit();
  /** Dropped since the last event that left. */
  dropped = 0;
  /** Dropped ever. */
  droppedEver = 0;
  readonly #limits: QueueLimits;
  readonly #charge: QueueCharge;
  #waiting: { value: T; bytes: number }[] = [];

  constructor(limits: QueueLimits, charge: QueueCharge = { bytes: 0, bytesMax: Number.POSITIVE_INFINITY }) {
    this.#limits = limits;
    this.#charge = charge;
  }

  get length(): number {
    return this.#waiting.length;
  }

  /** Whether an event would be taken and none dropped for it. What may leave at once does not wait. */
  get room(): boolean {
    const { bytes, bytesMax } = this.#charge;
    const kept = this.#waiting.length < this.#limits.capacity && bytes < bytesMax;
    return kept || (this.#waiting.length === 0 && this.credit.maySend);
  }

  /** Takes an event. "full" hands it back: wait, or fail, as the policy says. */
  push(value: T, bytes: number): "taken" | "dropped" | "full" {
    const { whenFull } = this.#limits;
    const full = !this.room;
    if (full && (whenFull === "wait" || whenFull === "fail")) return "full";
    // Where there is none of its own to drop: other streams' events have taken the room.
    if (full && (whenFull === "dropNewest" || this.#waiting.length === 0)) {
      this.#drop();
      return "dropped";
    }
    if (full) {
      this.#shift();
      this.#drop();
    }
    this.#waiting.push({ value, bytes });
    this.#charge.bytes += bytes;
    return "taken";
  }

  /** The next event that may leave, and how many were dropped before it; undefined when there is none. */
  next(): { value: T; dropped: number } | undefined {
    const [first] = this.#waiting;
    if (first === undefined || !this.credit.maySend) return undefined;
    this.#shift();
    this.credit.spend(first.bytes);
    const { dropped } = this;
    this.dropped = 0;
    return { value: first.value, dropped };
  }

  clear(): void {
    for (const { bytes } of this.#waiting) this.#charge.bytes -= bytes;
    this.#waiting = [];
  }

  #shift(): void {
    this.#charge.bytes -= this.#waiting.shift()?.bytes ?? 0;
  }

  #drop(): void {
    this.dropped++;
    this.droppedEver++;
  }
}
