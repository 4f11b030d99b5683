// SPDX-License-Identifier: MIT OR Apache-2.0
import { Op } from "../transport/protocol.js";
import type { Slot } from "./slot.js";

interface Waiting {
  slot: Slot;
  resolve(pong: { remoteTimeMs: number }): void;
  reject(why: unknown): void;
}

/** Round trips that carry nothing. */
export class Pings {
  readonly #waiting = new Map<number, Waiting>();

  /** Asks a worker for its time, in milliseconds since the epoch. Rejects when the worker is lost. */
  send(slot: Slot, id: number): Promise<{ remoteTimeMs: number }> {
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { slot, resolve, reject });
      slot.setRef(true);
      slot.tell(Op.Ping, id);
    });
  }

  answered(id: number, remoteTimeMs: number): void {
    const ping = this.#waiting.get(id);
    if (!ping) return;
    this.#waiting.delete(id);
    if (ping.slot.load === 0) ping.slot.setRef(false);
    ping.resolve({ remoteTimeMs });
  }

  lost(slot: Slot, why: unknown): void {
    for (const [id, ping] of this.#waiting) {
      if (ping.slot !== slot) continue;
      this.#waiting.delete(id);
      ping.reject(why);
    }
  }
}
