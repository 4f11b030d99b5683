// SPDX-License-Identifier: MIT OR Apache-2.0
import { SendCredit } from "../../stream/credit.js";
import { messageBytes } from "../transport/transport.js";

/**
 * Policy for an event when the queue to the listener is full. With "wait", `send` waits for room. With "fail", `send` rejects.
 * With the other policies, the oldest or the newest event is dropped.
 */
export type WhenFull = "wait" | "fail" | "dropOldest" | "dropNewest";

/**
 * Counts the bytes of events that wait for one peer, in all its streams. The limit holds whatever capacities the peer asks for.
 */
export interface ByteBudget {
  bytes: number;
  readonly bytesMax: number;
}

/** Limits of a listener's queue. */
export interface QueueLimits {
  readonly whenFull: WhenFull;
  readonly capacity: number;
}

const unlimited = (): ByteBudget => ({ bytes: 0, bytesMax: Number.POSITIVE_INFINITY });

/** Queues events that have no credit yet, up to a capacity. It does no I/O. Its owner sends the events that `next` returns. */
export class SourceQueue<T> {
  readonly credit = new SendCredit();
  /** Number of events dropped since the last event that left. */
  dropped = 0;
  /** Number of events dropped since the stream began. */
  droppedEver = 0;
  readonly #limits: QueueLimits;
  #budget: ByteBudget;
  #waiting: { value: T; bytes: number }[] = [];

  constructor(limits: QueueLimits, budget = unlimited()) {
    this.#limits = limits;
    this.#budget = budget;
  }

  get length(): number {
    return this.#waiting.length;
  }

  /** Whether the queue takes an event without dropping one. An event that can leave at once needs no room. */
  get room(): boolean {
    const kept = this.#waiting.length < this.#limits.capacity && !this.overBudget;
    return kept || (this.#waiting.length === 0 && this.credit.maySend);
  }

  /** Whether too many bytes wait for the peer, in all its streams. */
  get overBudget(): boolean {
    return this.#budget.bytes >= this.#budget.bytesMax;
  }

  /** Charges the peer for an event that waits, as an object too. */
  charge(bytes: number): void {
    this.#budget.bytes += bytes + messageBytes;
  }

  release(bytes: number): void {
    this.#budget.bytes -= bytes + messageBytes;
  }

  /** Adds an event. Returns "full" without adding the event, if the queue is full and the policy is "wait" or "fail". */
  push(value: T, bytes: number): "taken" | "dropped" | "full" {
    const { whenFull } = this.#limits;
    const full = !this.room;
    if (full && (whenFull === "wait" || whenFull === "fail")) return "full";
    // In the second case, events of other streams have taken the room, and this stream has no event to drop.
    if (full && (whenFull === "dropNewest" || this.#waiting.length === 0)) {
      this.#drop();
      return "dropped";
    }
    // As many as take the room of the new event: small ones would otherwise be replaced by large ones, beyond the budget.
    const needed = bytes + messageBytes;
    for (let freed = 0; !this.room && this.#waiting.length > 0 && freed < needed; this.#drop())
      freed += this.#shift() + messageBytes;
    this.#waiting.push({ value, bytes });
    this.charge(bytes);
    return "taken";
  }

  /**
   * Removes and returns the next event that may leave, with the number of events dropped before it. Returns undefined if no
   * event may leave.
   */
  next(): { value: T; dropped: number; bytes: number } | undefined {
    const [first] = this.#waiting;
    if (first === undefined || !this.credit.maySend) return undefined;
    this.#shift();
    this.credit.spend(first.bytes);
    const { dropped } = this;
    this.dropped = 0;
    return { value: first.value, dropped, bytes: first.bytes };
  }

  /** Takes back an event of `next` that could not leave, as if it had never been pushed. */
  skip({ dropped, bytes }: { dropped: number; bytes: number }): void {
    this.dropped += dropped;
    this.credit.grant(1, bytes);
  }

  /** Removes all events. The peer is not charged for later ones: a getter of an event may end its stream. */
  clear(): void {
    for (const { bytes } of this.#waiting) this.release(bytes);
    this.#waiting = [];
    this.#budget = unlimited();
  }

  #shift(): number {
    const { bytes } = this.#waiting.shift()!;
    this.release(bytes);
    return bytes;
  }

  #drop(): void {
    this.dropped++;
    this.droppedEver++;
  }
}
