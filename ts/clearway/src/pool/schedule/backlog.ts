// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError } from "../../error/clearway-error.js";
import { OwnPromise, queueMicrotask } from "../../globals.js";
import type { PoolCall } from "../call/call.js";
import type { Settings } from "../options.js";

/** The part of an item that a queue reads. */
export interface Queued {
  readonly priority: number;
  /** The item's id. Ids are consecutive, so they give the order of arrival. */
  readonly id: number;
}

// If more than this number of items, and more than half of the array, were taken, `take` compacts the array. The number is small, so the
// taken items hold little memory. It is large enough that `take` rarely compacts.
const takenMax = 64;

/**
 * A queue ordered by priority, then by arrival, in one sorted array.
 *
 * `take` and `peek` cost O(1). `add` costs O(log n) at the end of the array, which is the usual place because most calls have the same
 * priority. `remove`, and `add` at any other place, move O(n) pointers.
 */
export class PriorityQueue<Item extends Queued> {
  #items: Item[] = [];
  /** Index of the first item. The items before it were already taken. */
  #head = 0;

  get length(): number {
    return this.#items.length - this.#head;
  }

  /** Adds an item. An item that was taken before returns to its place by age. */
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

  /** Returns the oldest item of the lowest priority. Under `dropOldest`, `Backlog.admit` compares these items of all queues. */
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

  // Returns the index of the item with this priority and id, or the index at which it belongs.
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

/**
 * The waiting calls of a pool: one queue per worker for calls with a key, and one shared queue for all other calls. Applies the limits of
 * the app.
 */
export class Backlog {
  readonly #limits: Settings["queue"];
  /** Calls without a key, which any worker may take. */
  readonly shared = new PriorityQueue<PoolCall>();
  /** The queues by index of the worker. The last one is `shared`. */
  readonly queues: readonly PriorityQueue<PoolCall>[];
  length = 0;
  /** Bytes of binary memory in the arguments of all waiting calls. */
  bytes = 0;
  #roomWaiters: (() => void)[] = [];
  readonly #onDrain: (() => void) | undefined;
  /** Whether a call waited at the end of a tick, and `onDrain` was not called since. */
  #waited = false;
  #looking = false;

  /**
   * Returns the number of calls that may wait although the limit is 0, because they wait for a worker to start and not for another call. The
   * index is that of the worker that serves a call's key. -1 stands for all workers.
   */
  readonly #spare: (index: number) => number;

  constructor(
    { queue, max, onDrain }: Pick<Settings, "queue" | "max"> & Partial<Settings>,
    spare = (_index: number) => 0,
  ) {
    this.#limits = queue;
    this.#spare = spare;
    this.#onDrain = onDrain;
    this.queues = [...Array.from({ length: max }, () => new PriorityQueue<PoolCall>()), this.shared];
  }

  get full(): boolean {
    return this.length >= (this.#limits.items || this.#spare(-1)) || this.bytes >= this.#limits.bytes;
  }

  /** Settles when the backlog is below its limits. */
  async room(): Promise<void> {
    if (this.full) await new OwnPromise<void>((resolve) => this.#roomWaiters.push(resolve));
  }

  /**
   * Returns the call to drop before `call` is added. The result may be `call` itself. Returns undefined if there is space, and always under
   * `wait` and for a call of a mapping. Under `fail`, throws `queue-full` if there is no space.
   */
  admit(call: PoolCall): PoolCall | undefined {
    const { bytes, whenFull } = this.#limits;
    const over = this.#isOver(call) || (this.length > 0 && this.bytes + call.bytes > bytes);
    if (!over || whenFull === "wait" || call.options.waits) return undefined;
    if (whenFull === "fail") {
      throw new ClearwayError("queue-full", `the queue is full: ${this.length} calls, ${this.bytes} bytes`);
    }
    if (whenFull === "dropNewest") return call;
    // Without a queue, only a call that waits for the same workers makes space.
    const queues = this.#limits.items > 0 ? this.queues : [this.#queueOf(call)];
    const oldest = queues.flatMap((queue) => queue.oldest() ?? []);
    return oldest.sort((a, b) => a.priority - b.priority || a.id - b.id)[0] ?? call;
  }

  #isOver(call: PoolCall): boolean {
    const { items } = this.#limits;
    if (items > 0) return this.length >= items;
    const { workerIndex } = call.options;
    const waiting = workerIndex < 0 ? this.length : this.#queueOf(call).length;
    return waiting >= this.#spare(workerIndex);
  }

  /** Adds a call. A call that a worker had but never began returns to its place by age. */
  add(call: PoolCall): void {
    this.#queueOf(call).add(call);
    this.#grow(1, call.bytes);
  }

  remove(call: PoolCall): void {
    if (this.#queueOf(call).remove(call)) this.#grow(-1, -call.bytes);
  }

  take(queue: PriorityQueue<PoolCall>): PoolCall | undefined {
    const call = queue.take();
    if (call) this.#grow(-1, -call.bytes);
    return call;
  }

  /**
   * Returns all calls, or only those for the worker at `index`. The array is a copy, so the caller may remove calls while iterating.
   */
  all(index?: number): PoolCall[] {
    return this.queues.flatMap((queue, at) => (index === undefined || at === index ? [...queue] : []));
  }

  #queueOf(call: PoolCall): PriorityQueue<PoolCall> {
    return this.queues[call.options.workerIndex] ?? this.shared;
  }

  #grow(items: number, bytes: number): void {
    this.length += items;
    this.bytes += bytes;
    this.offerRoom();
    if (this.#onDrain) this.#lookForDrain(this.#onDrain);
  }

  /** Settles the promises of `room()` if there is room. */
  offerRoom(): void {
    if (this.#roomWaiters.length > 0 && !this.full) for (const resolve of this.#roomWaiters.splice(0)) resolve();
  }

  #lookForDrain(onDrain: () => void): void {
    if (this.length === 0) {
      if (this.#waited) onDrain();
      this.#waited = false;
    } else if (!this.#waited && !this.#looking) {
      this.#looking = true;
      queueMicrotask(() => {
        this.#looking = false;
        this.#waited = this.length > 0;
      });
    }
  }
}
