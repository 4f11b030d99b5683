// SPDX-License-Identifier: MIT OR Apache-2.0
import type { PortLike } from "../channel/transport/port-like.js";
import { newMessageChannel, structuredClone } from "../globals.js";

/** A message that waits, in memory of its own. */
interface Held {
  readonly message: unknown;
  readonly transfer: never[];
}

/**
 * The end of a new channel whose other end is handed over in a message. Messages wait here until then, copied and moved as if they were
 * posted: Firefox loses what was posted before the hand-over if the port closes soon after it. A port must not close before its hand-over.
 */
export class HandedOverPort implements PortLike {
  /** The port of this end. */
  readonly kept: MessagePort;
  readonly #given: MessagePort;
  /** Undefined after the hand-over. */
  #held: Held[] | undefined = [];

  constructor() {
    const { port1, port2 } = newMessageChannel();
    this.kept = port1;
    this.#given = port2;
  }

  get handedOver(): boolean {
    return this.#held === undefined;
  }

  postMessage(message: unknown, transfer: never[]): void {
    // The copy of the list names the moved objects.
    if (this.#held) this.#held.push(structuredClone({ message, transfer }, { transfer }));
    else this.kept.postMessage(message, transfer);
  }

  /** Calls `hand`, which posts the other end's port, then posts what waits. If `hand` throws, nothing has happened. */
  handOver(hand: (port: MessagePort) => void): void {
    hand(this.#given);
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const { message, transfer } of held) this.kept.postMessage(message, transfer);
  }

  /** Closes this end, and the other end's port if no other page has it. */
  close(): void {
    this.kept.close();
    if (!this.handedOver) this.#given.close();
  }
}
