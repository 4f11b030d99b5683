// SPDX-License-Identifier: MIT OR Apache-2.0
// A hand-written queue for one reader: one side calls `push`, the other awaits `take`.
import type { PushEvent } from "./pace.js";

export class AsyncQueue {
  #items: PushEvent[] = [];
  #wake: (() => void) | undefined;

  push(event: PushEvent): void {
    this.#items.push(event);
    this.#wake?.();
    this.#wake = undefined;
  }

  /** Returns all waiting events, and waits for the first one if there is none. */
  async take(): Promise<PushEvent[]> {
    if (this.#items.length === 0) await new Promise<void>((wake) => (this.#wake = wake));
    const items = this.#items;
    this.#items = [];
    return items;
  }
}
