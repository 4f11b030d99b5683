// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError } from "../error/clearway-error.js";
import type { Settings } from "./options.js";
import { placeOfKey } from "./placement.js";
import type { PoolCall } from "./pool-call.js";
import { PriorityQueue } from "./queue.js";

/** The calls that wait: one queue for all workers, and one for each place that keys belong to. Bounded as asked. */
export class Backlog {
  readonly #settings: Settings;
  readonly shared = new PriorityQueue<PoolCall>();
  readonly #keyed: (PriorityQueue<PoolCall> | undefined)[] = [];
  #length = 0;
  #bytes = 0;
  #roomWaiters: (() => void)[] = [];

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  get length(): number {
    return this.#length;
  }

  /** How many of them wait for a place of their own. */
  get keyedLength(): number {
    return this.#length - this.shared.length;
  }

  /** Bytes of binary memory in the arguments of calls that wait. */
  get bytes(): number {
    return this.#bytes;
  }

  get full(): boolean {
    const { items, bytes } = this.#settings.queue;
    return this.#length >= items || this.#bytes >= bytes;
  }

  /** Settles when a further call would be within the bounds. */
  room(): Promise<void> {
    return this.full ? new Promise((resolve) => this.#roomWaiters.push(resolve)) : Promise.resolve();
  }

  /**
   * Makes room for a call when it has to. Returns the call to give up, which may be the new one itself; throws
   * `queue-full` where that is what was asked for.
   */
  admit(call: PoolCall): PoolCall | undefined {
    const { items, bytes, whenFull } = this.#settings.queue;
    const over = this.#length >= items || (this.#length > 0 && this.#bytes + call.prepared.bytes > bytes);
    if (!over || whenFull === "wait") return undefined;
    if (whenFull === "fail") {
      throw new ClearwayError("queue-full", `the queue is full: ${this.#length} calls, ${this.#bytes} bytes wait`);
    }
    if (whenFull === "dropNewest") return call;
    const oldest = this.#queues().flatMap((queue) => queue.oldest() ?? []);
    oldest.sort((a, b) => a.priority - b.priority || a.id - b.id);
    return oldest[0] ?? call;
  }

  add(call: PoolCall): void {
    this.#queueOf(call).add(call);
    this.#grow(1, call.prepared.bytes);
  }

  /** Puts back a call that was with a worker and never began. */
  putBack(call: PoolCall): void {
    this.#queueOf(call).putBack(call);
    this.#grow(1, call.prepared.bytes);
  }

  remove(call: PoolCall): void {
    if (this.#queueOf(call).remove(call)) this.#grow(-1, -call.prepared.bytes);
  }

  take(queue: PriorityQueue<PoolCall>): PoolCall | undefined {
    const call = queue.take();
    if (call) this.#grow(-1, -call.prepared.bytes);
    return call;
  }

  /** The queue of a place, if anything waits there. */
  keyed(place: number): PriorityQueue<PoolCall> | undefined {
    const queue = this.#keyed[place];
    return queue?.length ? queue : undefined;
  }

  /** Everything that waits; a copy, so that it may be removed meanwhile. */
  all(): PoolCall[] {
    return this.#queues().flatMap((queue) => [...queue]);
  }

  /** What waits for a certain place; a copy. */
  at(place: number): PoolCall[] {
    return [...(this.#keyed[place] ?? [])];
  }

  #queues(): PriorityQueue<PoolCall>[] {
    return [this.shared, ...this.#keyed].filter((queue) => queue !== undefined);
  }

  #queueOf(call: PoolCall): PriorityQueue<PoolCall> {
    const { key } = call.options;
    if (key === undefined) return this.shared;
    const place = placeOfKey(key, this.#settings.max);
    this.#keyed[place] ??= new PriorityQueue();
    return this.#keyed[place];
  }

  #grow(items: number, bytes: number): void {
    this.#length += items;
    this.#bytes += bytes;
    if (this.#roomWaiters.length === 0 || this.full) return;
    for (const resolve of this.#roomWaiters.splice(0)) resolve();
  }
}
