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
    switch (this.#state) {
      case "idle":
      case "queued":
        this.#state = "settled";
        return "drop";
      case "posted":
      case "started":
        this.#state = "cancelling";
        return "tell";
      default:
        return "nothing";
    }
  }

  /** The worker answered. `release`: the caller was told before. */
  answer(): "deliver" | "release" | "nothing" {
    switch (this.#state) {
      case "posted":
      case "started":
        this.#state = "settled";
        return "deliver";
      case "cancelling":
        this.#state = "settled";
        return "release";
      default:
        return "nothing";
    }
  }

  /** The grace after a cancel is over, and the worker has not answered. */
  graceOver(): "kill" | "nothing" {
    return this.#state === "cancelling" ? "kill" : "nothing";
  }

  /** Its worker is gone. `mayHaveRun`: it began, or nobody can tell; then only a call that allows it is run again. */
  lose(mayHaveRun: boolean, mayRepeat: boolean): "requeue" | "fail" | "release" | "nothing" {
    switch (this.#state) {
      case "posted":
      case "started":
        if (!mayHaveRun || mayRepeat) {
          this.#state = "queued";
          return "requeue";
        }
        this.#state = "settled";
        return "fail";
      case "cancelling":
        this.#state = "settled";
        return "release";
      default:
        return "nothing";
    }
  }
}
