// SPDX-License-Identifier: MIT OR Apache-2.0
import { fields, malformed } from "./call.js";
import { Assembly, type Charge, Outbox, type OutboxWire } from "./parts.js";
import { isPart, Op } from "./protocol.js";

/** What a {@link Conversation} needs of its call. */
export interface ConversationWire extends OutboxWire {
  /** Size of the largest message that this side accepts in parts, in bytes. */
  readonly messageBytesMax: number;
  readonly charge: Charge;
}

/** A message from the other side. */
export interface Received {
  readonly message: readonly unknown[];
  /** Its size in bytes. */
  readonly bytes: number;
  /** Whether it came in parts. */
  readonly large: boolean;
}

/** The messages of one call in both directions: in order, and in parts if they are larger than NATS allows. */
export class Conversation {
  readonly #wire: ConversationWire;
  #outbox: Outbox | undefined;
  #assembly: Assembly | undefined;

  constructor(wire: ConversationWire) {
    this.#wire = wire;
  }

  /** Sends a message, or puts it behind those that wait. Does not copy it. Throws `queue-full` if too many bytes would wait. */
  send(bytes: Uint8Array): void {
    if (this.#outbox === undefined) {
      if (bytes.length <= this.#wire.payloadMax) return this.#wire.post(bytes);
      this.#outbox = new Outbox(this.#wire);
    }
    this.#outbox.send(bytes);
  }

  /** Whether a large message of the other side has begun and is not complete. */
  get receiving(): boolean {
    return this.#assembly?.open === true;
  }

  /** Whether messages wait for credit of the other side. */
  get waits(): boolean {
    return this.#outbox !== undefined && this.#outbox.waiting > 0;
  }

  /**
   * Reads a message. Returns undefined for one that only concerns the parts of a large message. Copies everything that the values keep.
   * Throws a `ClearwayError`: `protocol`, `too-large`, `queue-full`, or the code of a codec.
   */
  receive(bytes: Uint8Array): Received | undefined {
    const message = fields(this.#wire.codec, bytes, isPart(bytes));
    const op = message[0];
    if (op === Op.large) {
      this.#assembly ??= new Assembly(this.#wire.messageBytesMax, this.#wire.charge, (more) =>
        this.#wire.post(this.#wire.codec.encode([Op.more, more])),
      );
      this.#assembly.begin(message[1]);
      return undefined;
    }
    if (op === Op.part) return this.#add(message[1]);
    if (op !== Op.more) return { message, bytes: bytes.length, large: false };
    const [, more] = message;
    // Part of a byte would never be used up.
    if (!(Number.isSafeInteger(more) && (more as number) > 0)) throw malformed("credit is no whole number of bytes");
    this.#outbox?.more(more as number);
    return undefined;
  }

  /** Drops what waits to be sent, and what has arrived of a large message. */
  drop(): void {
    this.#outbox?.clear();
    this.#assembly?.drop();
  }

  #add(part: unknown): Received | undefined {
    if (this.#assembly === undefined) throw malformed("a part belongs to no message");
    const bytes = this.#assembly.add(part);
    if (bytes === undefined) return undefined;
    try {
      const message = fields(this.#wire.codec, bytes, false);
      const op = message[0];
      if (op === Op.large || op === Op.part || op === Op.more) throw malformed("a large message is within another one");
      return { message, bytes: bytes.length, large: true };
    } finally {
      this.#assembly.drop();
    }
  }
}
