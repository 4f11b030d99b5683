// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError } from "../error/clearway-error.js";
import type { Settings } from "./options.js";
import type { PoolCall } from "./pool-call.js";
import { PriorityQueue } from "./queue.js";

/** The calls that wait: a queue for each place that keys belong to, and one for all workers. Bounded as asked. */
export class Backlog {
  readonly #limits: Settings["queue"];
  /** What waits for all workers. */
  readonly shared = new PriorityQueue<PoolCall>();
  /** By place; the last is the shared one. */
  readonly queues: readonly PriorityQueue<PoolCall>[];
  length = 0;
  /** Bytes of binary memory in the arguments of calls that wait. */
  bytes = 0;
  #roomWaiters: (() => void)[] = [];

  constructor({ queue, max }: Settings) {
    this.#limits = queue;
    this.queues = [...Array.from({ length: max }, () => new PriorityQueue<PoolCall>()), this.shared];
  }

  get full(): boolean {
    return this.length >= this.#limits.items || this.bytes >= this.#limits.bytes;
  }

  /** Settles when a further call would be within the bounds. */
  async room(): Promise<void> {
    if (this.full) await new Promise<void>((resolve) => this.#roomWaiters.push(resolve));
  }

  /**
   * Makes room for a call when it has to. Returns the call to give up, which may be the new one itself; throws
   * `queue-full` where that is what was asked for.
   */
  admit(call: PoolCall): PoolCall | undefined {
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

  /** Adds a call, also one that was with a worker and never began. */
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

  /** Everything that waits, or what waits for one place; a copy, so that it may be removed meanwhile. */
  all(place?: number): PoolCall[] {
    return this.queues.flatMap((queue, at) => (place === undefined || at === place ? [...queue] : []));
  }

  #queueOf(call: PoolCall): PriorityQueue<PoolCall> {
    return this.queues[call.options.place] ?? this.shared;
  }

  #grow(items: number, bytes: number): void {
    this.length += items;
    this.bytes += bytes;
    if (this.#roomWaiters.length > 0 && !this.full) for (const resolve of this.#roomWaiters.splice(0)) resolve();
  }
}
