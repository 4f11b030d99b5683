// SPDX-License-Identifier: MIT OR Apache-2.0

/** Where a worker's place in the pool stands. */
export type WorkerState = "starting" | "ready" | "draining" | "closing" | "gone";

/** The life of one worker, as a pure value: starting, ready, draining (no new calls), closing its resources, gone. */
export class WorkerLife {
  #state: WorkerState = "starting";

  get state(): WorkerState {
    return this.#state;
  }

  /** The module has said what it exposes. */
  ready(): boolean {
    if (this.#state !== "starting") return false;
    this.#state = "ready";
    return true;
  }

  /** Takes no new calls; `close` when there is nothing left to wait for. */
  drain(load: number): "wait" | "close" | "kill" | "nothing" {
    if (this.#state === "starting") return "kill";
    if (this.#state === "ready") this.#state = "draining";
    return this.drained(load);
  }

  /** A call left: is it time to close? */
  drained(load: number): "wait" | "close" | "nothing" {
    if (this.#state !== "draining") return "nothing";
    if (load > 0) return "wait";
    this.#state = "closing";
    return "close";
  }

  /** The worker is gone, wanted or not. `failedToStart` and `crashed` are not. */
  exit(killed: boolean): "failedToStart" | "crashed" | "wanted" | "nothing" {
    const was = this.#state;
    this.#state = "gone";
    if (was === "gone") return "nothing";
    if (killed || was === "closing") return "wanted";
    return was === "starting" ? "failedToStart" : "crashed";
  }
}
