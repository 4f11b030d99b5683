// SPDX-License-Identifier: MIT OR Apache-2.0
// Starts and reads the idle watcher, a thread of the lab's own process. That process sleeps while a runner measures.
import { Worker } from "node:worker_threads";

/** Indexes into the shared Int32Array. */
export const SLOT = { stop: 0, sleep: 1, longestUs: 2 } as const;

/** Length of a sleep, in milliseconds: short enough to catch a stall of a few ms, long enough to cost under 0.5 % of a core. */
export const SLEEP_MS = 5;

export class IdleWatch {
  readonly #shared = new Int32Array(new SharedArrayBuffer(16));
  readonly #worker = new Worker(new URL("./idle-watcher.js", import.meta.url), { workerData: this.#shared.buffer });

  begin(): void {
    Atomics.store(this.#shared, SLOT.longestUs, 0);
  }

  /** Returns the longest delay with which the idle thread woke since `begin`, in milliseconds. */
  end(): number {
    return Atomics.load(this.#shared, SLOT.longestUs) / 1000;
  }

  async close(): Promise<void> {
    Atomics.store(this.#shared, SLOT.stop, 1);
    Atomics.notify(this.#shared, SLOT.sleep);
    await this.#worker.terminate();
  }
}
