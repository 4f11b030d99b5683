// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Backlog } from "./backlog.js";
import type { Settings } from "./options.js";
import { accepts, place } from "./placement.js";
import type { PoolCall } from "./pool-call.js";
import type { PriorityQueue } from "./queue.js";
import type { Slot } from "./slot.js";
import type { Workforce } from "./workforce.js";

// What a worker's start costs (15 ms in Node, 6 to 12 in Chromium, measured): a backlog of short tasks that will be done
// sooner than that is no reason to start one.
const startUs = 15_000;

/** What the scheduler asks of the pool. */
export interface SchedulerOwner {
  /** Whether a call that is about to leave may leave; if not, it has been dealt with. */
  admits(call: PoolCall): boolean;
}

/** Matches calls that wait with workers that are free, and asks for more workers when that is worth it. */
export class Scheduler {
  readonly #settings: Settings;
  readonly #backlog: Backlog;
  readonly #workforce: Workforce;
  readonly #owner: SchedulerOwner;
  #running = false;
  #again = false;

  constructor(settings: Settings, backlog: Backlog, workforce: Workforce, owner: SchedulerOwner) {
    this.#settings = settings;
    this.#backlog = backlog;
    this.#workforce = workforce;
    this.#owner = owner;
  }

  /** Something changed: sends what can be sent. May be called from within itself. */
  run(): void {
    if (this.#backlog.length === 0) return;
    if (this.#running) {
      this.#again = true;
      return;
    }
    this.#running = true;
    do {
      this.#again = false;
      while (this.#keyed() || this.#shared());
    } while (this.#again);
    this.#running = false;
    if (this.#backlog.length > 0) this.#grow();
  }

  /** The common case: nothing else waits and a worker is free. Sends the call without queueing it; false if it must wait. */
  sendNow(call: PoolCall): boolean {
    if (this.#backlog.length > 0 || call.options.key !== undefined || call.record.index < 0 || call.isStream)
      return false;
    const slot = place(this.#workforce.slots, call, this.#settings.concurrency);
    if (!slot || !this.#owner.admits(call)) return false;
    slot.post(call);
    this.#workforce.busy(slot);
    return true;
  }

  // Each of the two returns true when something left its queue, for a worker or otherwise, so that the other looks again.
  #keyed(): boolean {
    let sent = false;
    if (this.#backlog.keyedLength === 0) return false;
    for (const slot of this.#workforce) {
      let queue = this.#backlog.keyed(slot.index);
      for (let call = queue?.peek(); queue && call; call = queue?.peek()) {
        const first = this.#backlog.shared.peek();
        if (!accepts(slot, call, this.#settings.concurrency) || (first && first.priority > call.priority)) break;
        this.#send(queue, call, slot);
        sent = true;
        queue = this.#backlog.keyed(slot.index);
      }
    }
    return sent;
  }

  #shared(): boolean {
    let sent = false;
    const queue = this.#backlog.shared;
    for (let call = queue.peek(); call; call = queue.peek()) {
      const slot = place(this.#workforce.slots, call, this.#settings.concurrency);
      if (!slot) break;
      this.#send(queue, call, slot);
      sent = true;
    }
    return sent;
  }

  #send(queue: PriorityQueue<PoolCall>, call: PoolCall, slot: Slot): void {
    this.#backlog.take(queue);
    if (!this.#owner.admits(call)) return;
    slot.post(call);
    this.#workforce.busy(slot);
  }

  #grow(): void {
    for (let index = 0; index < this.#settings.max; index++) {
      if (this.#backlog.keyed(index) !== undefined) this.#workforce.start(index);
    }
    this.#growShared();
    // Somebody waits for these now: the process must not end before they are there.
    for (const slot of this.#workforce) if (slot.life.state === "starting") slot.setRef(true);
  }

  #growShared(): void {
    const first = this.#backlog.shared.peek();
    if (!first) return;
    const free = this.#settings.max - this.#workforce.size;
    let wanted = Math.min(free, this.#backlog.shared.length - this.#workforce.count("starting"));
    const { meanUs } = first.record.estimate;
    const served = this.#workforce.count("ready") > 0;
    if (served && meanUs !== undefined && meanUs * this.#backlog.shared.length < startUs) wanted = 0;
    while (wanted-- > 0 && this.#workforce.start());
  }
}
