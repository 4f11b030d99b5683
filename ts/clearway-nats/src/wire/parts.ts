// SPDX-License-Identifier: MIT OR Apache-2.0
import type { StandardMessageCodec } from "clearway/channel";
import { ClearwayError } from "clearway/remote";
import { malformed } from "./call.js";
import { Op } from "./protocol.js";

/** Bytes of a large message that may be under way. Two parts arrive while the grant for the next two is sent. */
const partWindow = 1024 * 1024;

/** The owner of the memory that messages from a peer take. */
export interface Charge {
  /** Charges bytes to the peer. Throws `queue-full` if that exceeds a limit. */
  take(bytes: number): void;
  /** Returns bytes that were charged. */
  give(bytes: number): void;
}

/**
 * Joins the parts of a large message. Checks the message's size against the limit and charges it to the peer before it allocates. Grants
 * the peer at most `partWindow` bytes at a time.
 */
export class Assembly {
  readonly #bytesMax: number;
  readonly #charge: Charge;
  readonly #grant: (bytes: number) => void;
  #total = 0;
  #at = 0;
  #granted = 0;
  #bytes: Uint8Array | undefined;

  constructor(bytesMax: number, charge: Charge, grant: (bytes: number) => void) {
    this.#bytesMax = bytesMax;
    this.#charge = charge;
    this.#grant = grant;
  }

  /** Whether parts of a message are still to come. */
  get open(): boolean {
    return this.#total > 0;
  }

  /** Begins a message. Throws `too-large`, `queue-full`, or `protocol` if another one is not complete. */
  begin(total: unknown): void {
    if (this.open) throw malformed("a large message begins within another one");
    if (!(Number.isSafeInteger(total) && (total as number) > 0)) throw malformed("the size of a large message is none");
    const bytes = total as number;
    if (bytes > this.#bytesMax)
      throw new ClearwayError("too-large", `a message has ${bytes} bytes, and the limit is ${this.#bytesMax}`);
    this.#charge.take(bytes);
    this.#total = bytes;
    this.#at = 0;
    this.#granted = 0;
    this.#more();
  }

  /**
   * Adds a part. Copies it. Returns the whole message with its last part; the caller then owns the memory, and the charge is still held: call
   * {@link drop}. Throws `protocol` for a part without credit.
   */
  add(part: unknown): Uint8Array | undefined {
    if (!this.open) throw malformed("a part belongs to no message");
    if (!(part instanceof Uint8Array) || part.length === 0) throw malformed("a part has no bytes");
    if (part.length > this.#granted - this.#at) throw malformed("a part exceeds its credit");
    // Allocated with the first part, so that a peer that only announces messages takes no memory.
    this.#bytes ??= new Uint8Array(this.#total);
    this.#bytes.set(part, this.#at);
    this.#at += part.length;
    if (this.#at === this.#total) return this.#bytes;
    this.#more();
    return undefined;
  }

  /** Returns the charge, because the message was used, or its call is over. */
  drop(): void {
    const total = this.#total;
    this.#total = 0;
    this.#bytes = undefined;
    if (total > 0) this.#charge.give(total);
  }

  // Grants more when half of the window has arrived.
  #more(): void {
    if (this.#granted - this.#at > partWindow / 2) return;
    const bytes = Math.min(this.#total - this.#granted, this.#at + partWindow - this.#granted);
    if (bytes <= 0) return;
    this.#granted += bytes;
    this.#grant(bytes);
  }
}

/** Bytes of a part of a large message. Parts of this size let the small messages of other calls pass between them. */
const partBytes = 256 * 1024;

/** Maximum number of bytes that a part adds to its content: op, list, sizes. */
const partOverhead = 32;

/** How an {@link Outbox} sends. */
export interface OutboxWire {
  readonly codec: StandardMessageCodec;
  /** Size of the largest message that NATS carries, in bytes. */
  readonly payloadMax: number;
  /** The memory of messages that wait. Undefined if it is the app's own. */
  readonly waitCharge?: Charge | undefined;
  /** Whether the other side knows the call. */
  readonly begun: boolean;
  /** Sends one message to the other side. Never throws. */
  post(bytes: Uint8Array): void;
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
    if (this.#current === undefined && bytes.length <= this.#wire.payloadMax) return this.#wire.post(bytes);
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
          this.#wire.post(next);
          continue;
        }
        this.#current = next;
        this.#at = 0;
        this.#credit = 0;
        const large = [Op.large, next.length];
        // The other side may have ended the call, and must not take the message for a new one.
        this.#wire.post(this.#wire.codec.encode(this.#wire.begun ? [...large, true] : large));
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
    this.#wire.post(this.#wire.codec.encode([Op.part, part]));
  }
}
