// SPDX-License-Identifier: MIT OR Apache-2.0
import { watchLifeline } from "#host";
import { newAbortController } from "../../globals.js";

/** Waits for the end of the thread at the other side of a port. A browser reports nothing when a worker is terminated. */
export class PeerThread {
  #watching: AbortController | undefined;

  /** Starts to wait. `name` is the lock that the thread holds. Returns false if the name is invalid or not the first one. */
  watch(name: unknown, onEnd: () => void): boolean {
    if (typeof name !== "string" || this.#watching) return false;
    this.#watching = newAbortController();
    watchLifeline(name, this.#watching.signal, onEnd).catch(() => {}); // a host without locks has no lifeline
    return true;
  }

  stop(): void {
    this.#watching?.abort();
  }
}
