// SPDX-License-Identifier: MIT OR Apache-2.0
import type { StandardMessageCodec } from "clearway/channel";
import type { Charge } from "./assembly.js";
import { Op } from "./op.js";

/** Bytes of a part of a large message. Parts of this size let the small messages of other calls pass between them. */
export const partBytes = 256 * 1024;

/** Maximum number of bytes that a part adds to its content: op, list, sizes. */
export const partOverhead = 32;

/** How an {@link Outbox} sends. */
export interface OutboxWire {
  readonly codec: StandardMessageCodec;
  /** Size of the largest message that NATS carries, in bytes. */
  readonly payloadMax: number;
  /** The memory of messages that wait. Undefined if it is the app's own. */
  readonly waitCharge?: Charge | undefined;
  /** Whether the other side knows the call. */
  readonly begun: boolean;
  /** Sends one message. Never throws. */
  send(bytes: Uint8Array): void;
}

/**
 * The messages of one direction of a call, in order. Sends a message that is larger than NATS allows in parts, as fast as the other side
 * grants bytes. Messages behind it wait.
 */
export class Outbox {
  readonly #wire: OutboxWire;
  readonly #queue: Uint8Array[] = [];
  #current: Uint8Array | undefined;
  #at = 0;
  #credit = 0;

  constructor(wire: OutboxWire) {
    this.#wire = wire;
  }

  /** Number of messages that wait for the parts of a large one, including that one. */
  get waiting(): number {
    return this.#queue.length + (this.#current === undefined ? 0 : 1);
  }

  /** Sends a message, or puts it behind those that wait. Does not copy it. Throws `queue-full` if too many bytes would wait. */
  send(bytes: Uint8Array): void {
    if (this.#current === undefined && bytes.length <= this.#wire.payloadMax) return this.#wire.send(bytes);
    this.#wire.waitCharge?.take(bytes.length);
    this.#queue.push(bytes);
    this.#run();
  }

  /** Grants bytes for the parts of the large message. Credit for more than the rest of it has no effect. */
  more(bytes: number): void {
    if (this.#current === undefined) return;
    this.#credit = Math.min(this.#credit + bytes, this.#current.length - this.#at);
    this.#run();
  }

  /** Drops everything that waits. */
  clear(): void {
    for (const each of this.#queue.splice(0)) this.#sent(each);
    if (this.#current) this.#sent(this.#current);
    this.#current = undefined;
    this.#credit = 0;
  }

  #sent(message: Uint8Array): void {
    this.#wire.waitCharge?.give(message.length);
  }

  #run(): void {
    for (;;) {
      if (this.#current === undefined) {
        const next = this.#queue.shift();
        if (next === undefined) return;
        if (next.length <= this.#wire.payloadMax) {
          this.#sent(next);
          this.#wire.send(next);
          continue;
        }
        this.#current = next;
        this.#at = 0;
        this.#credit = 0;
        const large = [Op.large, next.length];
        // The other side may have ended the call, and must not take the message for a new one.
        this.#wire.send(this.#wire.codec.encode(this.#wire.begun ? [...large, true] : large));
      }
      if (this.#credit === 0) return;
      this.#sendPart(this.#current);
    }
  }

  #sendPart(message: Uint8Array): void {
    // At least one byte, also for a server that carries only tiny messages.
    const most = Math.max(1, Math.min(partBytes, this.#wire.payloadMax - partOverhead, this.#credit));
    const part = message.subarray(this.#at, this.#at + most);
    this.#at += part.length;
    this.#credit -= part.length;
    if (this.#at === message.length) {
      this.#current = undefined;
      this.#sent(message);
    }
    this.#wire.send(this.#wire.codec.encode([Op.part, part]));
  }
}
