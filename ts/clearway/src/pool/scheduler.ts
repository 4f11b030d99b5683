// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Backlog } from "./backlog.js";
import type { CallTracker } from "./call-tracker.js";
import type { Settings } from "./options.js";
import { accepts, place } from "./placement.js";
import type { PoolCall } from "./pool-call.js";
import type { PoolWorker } from "./worker.js";
import type { WorkerSet } from "./worker-set.js";

// What a worker's start costs (15 ms in Node, 6 to 12 in Chromium, measured): a backlog of short tasks that will be done
// sooner than that is no reason to start one.
const startUs = 15_000;

// Whether a call of the same key is under way there: a worker that runs one call at a time keeps their order by itself.
function hasKey(worker: PoolWorker, { options }: PoolCall): boolean {
  return worker.calls.values().some((each) => each.counted && each.options.key === options.key);
}

/** Matches calls that wait with workers that are free, and asks for more workers when that is worth it. */
export class Scheduler {
  readonly #settings: Settings;
  readonly #backlog: Backlog;
  readonly #workers: WorkerSet;
  readonly #tracker: CallTracker;
  #running = false;
  #again = false;

  constructor(settings: Settings, backlog: Backlog, workers: WorkerSet, tracker: CallTracker) {
    this.#settings = settings;
    this.#backlog = backlog;
    this.#workers = workers;
    this.#tracker = tracker;
  }

  /** Something changed: sends what can be sent. May be called from within itself. */
  run(): void {
    if (this.#backlog.length === 0) return;
    this.#again = true;
    if (this.#running) return;
    this.#running = true;
    while (this.#again) {
      this.#again = false;
      for (const queue of this.#backlog.queues) {
        for (let call = queue.peek(); call; call = queue.peek()) {
          const worker = this.#slotFor(call);
          if (!worker) break;
          // What left may have been what another queue gave way to.
          this.#again = true;
          this.#backlog.take(queue);
          try {
            if (this.#tracker.admits(call)) worker.post(call);
          } catch (reason) {
            this.#tracker.refuse(call, reason);
          }
        }
      }
    }
    this.#running = false;
    if (this.#backlog.length > 0 && !this.#workers.complete) this.#grow();
  }

  /** The common case: nothing else waits and a worker is free. Sends the call without queueing it; false if it must wait. */
  sendNow(call: PoolCall): boolean {
    if (this.#backlog.length > 0 || call.record.index < 0 || call.isStream || call.deep) return false;
    const worker = this.#slotFor(call);
    worker?.post(call);
    return worker !== undefined;
  }

  #slotFor(call: PoolCall): PoolWorker | undefined {
    const { all } = this.#workers;
    const { concurrency } = this.#settings;
    if (call.options.place < 0) return place(all, call, concurrency);
    const worker = all[call.options.place];
    if (!worker || !accepts(worker, call, concurrency)) return undefined;
    const first = this.#backlog.shared.peek();
    // It gives way to what is more urgent, or as urgent and older.
    const behind = first && (first.priority - call.priority || call.id - first.id) > 0;
    return behind || (concurrency > 1 && hasKey(worker, call)) ? undefined : worker;
  }

  #grow(): void {
    const { shared, queues } = this.#backlog;
    queues.forEach((queue, at) => {
      if (queue !== shared && queue.length > 0) this.#workers.start(at);
    });
    const { meanUs } = shared.peek()?.record.estimate ?? {};
    const soonDone = meanUs !== undefined && meanUs * shared.length < startUs && this.#workers.count("ready") > 0;
    if (!soonDone) {
      for (let wanted = shared.length - this.#workers.starting.length; wanted > 0; wanted--) {
        if (!this.#workers.start()) break;
      }
    }
    // Somebody waits for these now: the process must not end before they are there.
    for (const worker of this.#workers) if (worker.life.state === "starting") worker.setRef(true);
  }
}
