// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError } from "../../error/clearway-error.js";
import type { Settings } from "../options.js";

/** What a queue reads of its items. */
export interface Queued {
  readonly priority: number;
  /** Ids are consecutive, so they give the order of arrival. */
  readonly id: number;
}

// Taken items that the array still holds before it is compacted: few enough to hold little, and enough to make compacting cheap.
const takenMax = 64;

/**
 * A queue ordered by priority, then by arrival, in one sorted array. `take` and `peek` cost O(1). `add` costs O(log n) at the end of the
 * array, which is the usual place because most calls have one priority. `add` elsewhere, and `remove`, move O(n) pointers.
 */
export class PriorityQueue<Item extends Queued> {
  #items: Item[] = [];
  /** Index of the first item. Items before it have been taken. */
  #head = 0;

  get length(): number {
    return this.#items.length - this.#head;
  }

  /** Adds an item. One that was taken before returns to its place by age. */
  add(item: Item): void {
    this.#items.splice(this.#placeOf(item.priority, item.id), 0, item);
  }

  peek(): Item | undefined {
    return this.#items[this.#head];
  }

  take(): Item | undefined {
    const item = this.peek();
    if (!item) return undefined;
    this.#head++;
    if (this.#head === this.#items.length || (this.#head > takenMax && this.#head * 2 > this.#items.length)) {
      this.#items.splice(0, this.#head);
      this.#head = 0;
    }
    return item;
  }

  /** Returns the oldest item of the lowest priority, which `dropOldest` drops. */
  oldest(): Item | undefined {
    const last = this.#items.at(-1);
    return last && this.#items[this.#placeOf(last.priority, 0)];
  }

  /** Removes an item. Returns whether it was in the queue. */
  remove(item: Item): boolean {
    const at = this.#placeOf(item.priority, item.id);
    if (this.#items[at] !== item) return false;
    this.#items.splice(at, 1);
    return true;
  }

  [Symbol.iterator](): Iterator<Item> {
    return this.#items.slice(this.#head).values();
  }

  // The index of such an item, or the index where it belongs.
  #placeOf(priority: number, id: number): number {
    let low = this.#head;
    let high = this.#items.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const { priority: itsPriority, id: itsId } = this.#items[middle] as Item;
      if (itsPriority > priority || (itsPriority === priority && itsId < id)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** What the backlog reads of a call. */
export interface BacklogCall extends Queued {
  /** Bytes of binary memory in the arguments. */
  readonly bytes: number;
  /** `place`: index of the worker that serves the call's key; -1 without a key. */
  readonly options: { readonly place: number };
}

/** The calls that wait: one queue per worker for calls with a key, and one queue for all other calls. Has the app's limits. */
export class Backlog<Call extends BacklogCall> {
  readonly #limits: Settings["queue"];
  /** Calls that any worker may take. */
  readonly shared = new PriorityQueue<Call>();
  /** By index of the worker. The last one is `shared`. */
  readonly queues: readonly PriorityQueue<Call>[];
  length = 0;
  /** Bytes of binary memory in the arguments of the calls. */
  bytes = 0;
  #roomWaiters: (() => void)[] = [];

  constructor({ queue, max }: Settings) {
    this.#limits = queue;
    this.queues = [...Array.from({ length: max }, () => new PriorityQueue<Call>()), this.shared];
  }

  get full(): boolean {
    return this.length >= this.#limits.items || this.bytes >= this.#limits.bytes;
  }

  /** Settles when one more call would be within the limits. */
  async room(): Promise<void> {
    if (this.full) await new Promise<void>((resolve) => this.#roomWaiters.push(resolve));
  }

  /** Returns the call to drop so that `call` has room, which may be `call` itself. Throws `queue-full` under `fail`. */
  admit(call: Call): Call | undefined {
    const { items, bytes, whenFull } = this.#limits;
    const over = this.length >= items || (this.length > 0 && this.bytes + call.bytes > bytes);
    if (!over || whenFull === "wait") return undefined;
    if (whenFull === "fail") {
      throw new ClearwayError("queue-full", `the queue is full: ${this.length} calls, ${this.bytes} bytes`);
    }
    if (whenFull === "dropNewest") return call;
    const oldest = this.queues.flatMap((queue) => queue.oldest() ?? []);
    return oldest.sort((a, b) => a.priority - b.priority || a.id - b.id)[0] ?? call;
  }

  /** Adds a call. One that was with a worker and never began returns to its place. */
  add(call: Call): void {
    this.#queueOf(call).add(call);
    this.#grow(1, call.bytes);
  }

  remove(call: Call): void {
    if (this.#queueOf(call).remove(call)) this.#grow(-1, -call.bytes);
  }

  take(queue: PriorityQueue<Call>): Call | undefined {
    const call = queue.take();
    if (call) this.#grow(-1, -call.bytes);
    return call;
  }

  /** Returns all calls, or those for the worker at index `place`. The array is a copy: the caller may remove calls meanwhile. */
  all(place?: number): Call[] {
    return this.queues.flatMap((queue, at) => (place === undefined || at === place ? [...queue] : []));
  }

  #queueOf(call: Call): PriorityQueue<Call> {
    return this.queues[call.options.place] ?? this.shared;
  }

  #grow(items: number, bytes: number): void {
    this.length += items;
    this.bytes += bytes;
    if (this.#roomWaiters.length > 0 && !this.full) for (const resolve of this.#roomWaiters.splice(0)) resolve();
  }
}
