// SPDX-License-Identifier: MIT OR Apache-2.0

import { setImmediate, setTimeout, type Timer, unref } from "../../globals.js";

// Idle time in milliseconds after which a worker no longer keeps the process alive. To unreference a worker and reference it again takes
// four calls into Node's core. Without the delay, each call that is made when the previous one is answered would cost half a microsecond
// more. The price of the delay: a script with no other work ends this much later.
const releaseMs = 10;

/** A worker that may keep the process alive. */
export interface Referenced {
  ref(): void;
  unref(): void;
  /** Asks the worker for its printed output. The worker's reply must lead to a call of {@link Release.flushed}. May throw. */
  flush(): void;
}

/** Decides when a worker keeps the process alive: while it has work, and until its printed output has arrived. */
export class Release {
  readonly #worker: Referenced;
  #wantsRef = true;
  #referenced = true;
  #timer: Timer | undefined;
  /** Whether the worker has printed since it last confirmed that all of its output had arrived. */
  #printing = false;
  #gone = false;

  constructor(worker: Referenced) {
    this.#worker = worker;
  }

  /** Records that the worker has printed. */
  printed(): void {
    this.#printing = true;
  }

  /** Handles the worker's reply to `flush`. The worker's last lines may have been in flight when it answered its last call. */
  flushed(): void {
    this.#unrefWhenIdle();
  }

  /** Records that the worker has ended. */
  end(): void {
    this.#gone = true;
  }

  setRef(on: boolean): void {
    this.#wantsRef = on;
    if (on && !this.#referenced) {
      this.#referenced = true;
      this.#worker.ref();
    } else if (!on && this.#referenced && this.#timer === undefined) {
      // After the delay, waits for one more turn of the event loop. This thread then first reads the messages that arrived while it was
      // busy.
      this.#timer = setTimeout(() => setImmediate(() => this.#unrefWhenIdle()), releaseMs);
      unref(this.#timer);
    }
  }

  #unrefWhenIdle(): void {
    this.#timer = undefined;
    if (this.#wantsRef || !this.#referenced || this.#gone) return;
    if (this.#printing) {
      this.#printing = false;
      try {
        return this.#worker.flush();
      } catch {
        // The `postMessage` of a factory's worker may throw. The process must not wait for such a worker's output for ever.
      }
    }
    this.#referenced = false;
    this.#worker.unref();
  }
}
