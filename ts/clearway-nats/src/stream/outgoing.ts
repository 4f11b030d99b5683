// SPDX-License-Identifier: MIT OR Apache-2.0
import type { StandardMessageCodec } from "clearway/channel";
import { unmoved } from "clearway/remote";
import { timers } from "../clock.js";
import { Op } from "../wire/protocol.js";
import { SendCredit } from "./credit.js";

// Aims at messages of up to this size: large enough that the cost of a message is small beside the cost of its bytes, small enough that the
// messages of other calls pass between them.
const messageBytesAim = 64 * 1024;

/** The source of a stream: arrays of values, one after the other. It is foreign code: it may throw, hang, and lie. */
export interface Source {
  next(): Promise<IteratorResult<readonly unknown[]>>;
}

/** What an {@link Outgoing} needs of its call. */
export interface OutgoingWire {
  readonly codec: StandardMessageCodec;
  send(bytes: Uint8Array): void;
  /** Returns a promise while the network is slower than what is sent. It never rejects. */
  drained(): Promise<void> | undefined;
  /** The source has no more values. */
  ended(value: unknown): void;
  /** The source has thrown, or a value cannot be sent. */
  failed(reason: unknown): void;
}

/** The sender's side of a stream: reads the source as far as the reader has granted credit. */
export class Outgoing {
  readonly #index: number;
  readonly #source: Source;
  readonly #wire: OutgoingWire;
  readonly #credit = new SendCredit();
  #rest: readonly unknown[] = [];
  /** Number of values that a message had, or may have, without being too large. */
  #most = 1_024;
  #running = false;
  #over = false;

  /** `index` is the index of the argument that the stream is, or -1 for a result. */
  constructor(index: number, source: Source, wire: OutgoingWire) {
    this.#index = index;
    this.#source = source;
    this.#wire = wire;
  }

  get over(): boolean {
    return this.#over;
  }

  /** Adds credit and sends what it allows. Throws `protocol` for amounts that are none. */
  grant(items: unknown, bytes: unknown): void {
    this.#credit.grant(items, bytes);
    void this.#run();
  }

  /** Reads no more and sends no more. Does not close the source. */
  stop(): void {
    this.#over = true;
    this.#rest = [];
  }

  async #run(): Promise<void> {
    if (this.#running) return;
    this.#running = true;
    try {
      while (!this.#over && this.#credit.maySend) {
        const drained = this.#wire.drained();
        if (drained) {
          await drained;
          continue;
        }
        if (this.#rest.length === 0) {
          const step = await this.#source.next();
          if (this.#over) return;
          if (step.done) {
            this.#over = true;
            return this.#wire.ended(step.value);
          }
          this.#rest = step.value;
        }
        if (this.#rest.length > 0) this.#sendSome();
      }
    } catch (reason) {
      if (this.#over) return;
      this.stop();
      this.#wire.failed(reason);
    } finally {
      this.#running = false;
    }
  }

  #sendSome(): void {
    let count = Math.min(this.#rest.length, this.#credit.items, this.#most);
    let bytes: Uint8Array | undefined;
    do {
      try {
        bytes = this.#encode(count);
      } catch (reason) {
        // The values before the one that cannot be encoded are sent first.
        if (count === 1) throw reason;
        count >>= 1;
      }
    } while (bytes === undefined);
    while (bytes.length > messageBytesAim && count > 1) {
      count = Math.max(1, Math.min(count - 1, Math.floor((count * messageBytesAim) / bytes.length)));
      this.#most = count;
      bytes = this.#encode(count);
    }
    if (count === this.#most && bytes.length * 2 < messageBytesAim) this.#most *= 2;
    this.#rest = this.#rest.slice(count);
    this.#credit.spend(count, bytes.length);
    this.#wire.send(bytes);
  }

  #encode(count: number): Uint8Array {
    return this.#wire.codec.encode([Op.items, this.#index, this.#rest.slice(0, count).map(unmoved)]);
  }
}

/** Maximum number of progress values in a message. Of more values in one turn, only the newest are sent. */
const valuesMax = 1_024;
/** Maximum number of progress values that wait while the network is slower than what is sent. They may be large. */
const heldMax = 64;

/**
 * Sends the values that a task passes to `progress()`: those of one turn of the event loop in one message. While the network is slower than
 * what is sent, only the newest wait.
 */
export class ProgressSender {
  readonly #codec: StandardMessageCodec;
  readonly #send: (bytes: Uint8Array) => void;
  readonly #failed: (reason: unknown) => void;
  readonly #drained: () => Promise<void> | undefined;
  #values: unknown[] = [];
  #immediate: NodeJS.Immediate | undefined;
  #held = false;

  /** `drained` is that of {@link OutgoingWire}. */
  constructor(
    codec: StandardMessageCodec,
    send: (bytes: Uint8Array) => void,
    failed: (reason: unknown) => void,
    drained: () => Promise<void> | undefined,
  ) {
    this.#codec = codec;
    this.#send = send;
    this.#failed = failed;
    this.#drained = drained;
  }

  add(value: unknown): void {
    this.#values.push(value);
    const most = this.#held ? heldMax : valuesMax;
    if (this.#values.length > most * 2) this.#values = this.#values.slice(-most);
    if (!this.#held) this.#immediate ??= timers.setImmediate(() => this.#leave());
  }

  #leave(): void {
    this.#immediate = undefined;
    if (this.#values.length === 0) return;
    const drained = this.#drained();
    if (drained === undefined) return this.flush();
    this.#held = true;
    void drained.then(() => {
      this.#held = false;
      this.#leave();
    });
  }

  /** Drops the values that wait. */
  drop(): void {
    if (this.#immediate) timers.clearImmediate(this.#immediate);
    this.#immediate = undefined;
    this.#values = [];
  }

  /** Sends the values that wait. They must not come after the result. */
  flush(): void {
    const values = this.#values.slice(-valuesMax);
    this.drop();
    if (values.length === 0) return;
    try {
      this.#send(this.#codec.encode([Op.progress, values]));
    } catch (reason) {
      this.#failed(reason);
    }
  }
}
