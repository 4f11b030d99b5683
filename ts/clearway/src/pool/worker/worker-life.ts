// SPDX-License-Identifier: MIT OR Apache-2.0

/** The states of a worker. */
export type WorkerState = "starting" | "ready" | "draining" | "closing" | "gone";

/**
 * The state machine of one worker: starting, ready, draining (no new calls), closing its resources, gone. Reads no clock and starts no
 * thread.
 */
export class WorkerLife {
  #state: WorkerState = "starting";

  get state(): WorkerState {
    return this.#state;
  }

  /** Records that the worker's module is loaded. Returns false if the worker had to end before. */
  ready(): boolean {
    if (this.#state !== "starting") return false;
    this.#state = "ready";
    return true;
  }

  /** Stops new calls. Returns `close` if the worker has no open call, and `kill` if it is still starting. */
  drain(load: number): "wait" | "close" | "kill" | "nothing" {
    if (this.#state === "starting") return "kill";
    if (this.#state === "ready") this.#state = "draining";
    return this.drained(load);
  }

  /** Records that a call left the worker, which now has `load` calls. Returns `close` if this was the last call of a draining worker. */
  drained(load: number): "wait" | "close" | "nothing" {
    if (this.#state !== "draining") return "nothing";
    if (load > 0) return "wait";
    this.#state = "closing";
    return "close";
  }

  /** Records that the worker is gone. Returns `wanted` if the pool ended it. */
  exit(killed: boolean): "failedToStart" | "crashed" | "wanted" | "nothing" {
    const was = this.#state;
    this.#state = "gone";
    if (was === "gone") return "nothing";
    if (killed || was === "closing") return "wanted";
    return was === "starting" ? "failedToStart" : "crashed";
  }
}
