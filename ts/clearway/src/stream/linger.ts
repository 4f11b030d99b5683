// SPDX-License-Identifier: MIT OR Apache-2.0
import { OwnPromise } from "../globals.js";
import type { Transport } from "../transport/transport.js";

/**
 * How many microtasks a value of an async iterator waits for the next value. An async generator takes 3 microtasks for a value that it
 * has, and 6 if it reads another async generator. A microtask takes about 25 ns, so a value that comes alone waits for 0.3 us.
 */
export const lingerMicrotasks = 12;

/**
 * Gathers the values of an async iterator into one message, although each value comes in a later tick.
 *
 * The end of a tick usually flushes the transport. Between `hold` and the end of the wait, frames of any kind stay in the transport. Its
 * `flush` still sends them at once.
 */
export class Linger {
  readonly #transport: Pick<Transport, "scheduled" | "flush">;
  #left = 0;

  constructor(transport: Pick<Transport, "scheduled" | "flush">) {
    this.#transport = transport;
  }

  /** Delays the next flush, or delays it further. Call it before each value. Does nothing if a flush is due at the end of this tick. */
  hold(): void {
    if (this.#left === 0) {
      if (this.#transport.scheduled) return;
      this.#transport.scheduled = true;
      void resolved.then(this.#wait);
    }
    this.#left = lingerMicrotasks;
  }

  readonly #wait = (): void => {
    this.#left--;
    if (this.#left > 0) return void resolved.then(this.#wait);
    this.#transport.scheduled = false;
    this.#transport.flush();
  };
}

const resolved = OwnPromise.resolve();
