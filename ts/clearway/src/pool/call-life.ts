// SPDX-License-Identifier: MIT OR Apache-2.0

/** Where a call stands. `idle` is a stream that nobody has asked for a value yet. */
export type CallState = "idle" | "queued" | "posted" | "started" | "cancelling" | "settled";

/**
 * The life of one call, as a pure value. Its methods say what the shell has to do; whatever happens in whatever order, a
 * call reaches `settled` once, and its caller is told once.
 */
export class CallLife {
  #state: CallState = "idle";

  get state(): CallState {
    return this.#state;
  }

  /** Waits in the queue from now on. */
  enqueue(): void {
    if (this.#state === "idle") this.#state = "queued";
  }

  /** Was a stream without a reader: leaves the queue until somebody asks for a value. */
  setAside(): void {
    if (this.#state === "queued") this.#state = "idle";
  }

  /** Left for a worker. */
  post(): void {
    if (this.#state === "queued") this.#state = "posted";
  }

  /** The worker says that it began. */
  start(): "armTimeout" | "nothing" {
    if (this.#state !== "posted") return "nothing";
    this.#state = "started";
    return "armTimeout";
  }

  /**
   * The caller gave up, or time ran out. `drop`: it never left, tell the caller and forget it. `tell`: tell the caller and
   * the worker; the worker's place stays taken until it answers or the grace is over.
   */
  cancel(): "drop" | "tell" | "nothing" {
    if (this.#isOut) {
      this.#state = "cancelling";
      return "tell";
    }
    if (this.#state !== "idle" && this.#state !== "queued") return "nothing";
    this.#state = "settled";
    return "drop";
  }

  /** The worker answered. `release`: the caller was told before. */
  answer(): "deliver" | "release" | "nothing" {
    const action = this.#isOut ? "deliver" : this.#state === "cancelling" ? "release" : "nothing";
    if (action !== "nothing") this.#state = "settled";
    return action;
  }

  /** The grace after a cancel is over, and the worker has not answered. */
  graceOver(): "kill" | "nothing" {
    return this.#state === "cancelling" ? "kill" : "nothing";
  }

  /** Its worker is gone. `mayHaveRun`: it began, or nobody can tell; then only a call that allows it is run again. */
  lose(mayHaveRun: boolean, mayRepeat: boolean): "requeue" | "fail" | "release" | "nothing" {
    const action = this.answer();
    if (action !== "deliver") return action;
    if (mayHaveRun && !mayRepeat) return "fail";
    this.#state = "queued";
    return "requeue";
  }

  /** With a worker, and wanted. */
  get #isOut(): boolean {
    return this.#state === "posted" || this.#state === "started";
  }
}
