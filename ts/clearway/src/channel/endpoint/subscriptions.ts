// SPDX-License-Identifier: MIT OR Apache-2.0

import { ClearwayError } from "../../error/clearway-error.js";
import { abortOf } from "../../error/read-signal.js";
import { turnBudget } from "../../transport/turn-budget.js";
import { Op, Status, whenFullShift } from "../wire/frame.js";
import { failure, type Head } from "./calls.js";
import type { Connection, Encoded, Received } from "./connection.js";
import { guarded, Listener } from "./event-stream.js";
import { follow } from "./follow.js";
import { type ListenOptions, listenSettings, policyNumber } from "./listen-options.js";
import type { Outbox, QueuedRequest } from "./outbox.js";

/** A stream that this end listens to. */
interface Listen extends QueuedRequest {
  readonly id: number;
  readonly channel: string;
  readonly stream: Listener<Received>;
  /** Credit that is given back and not sent yet. */
  items: number;
  bytes: number;
  /** Removes the stream's listener from the abort signal. */
  unlisten: () => void;
}

/** Event streams that this end listens to, on Clearway's wire. A second stream on a channel ends the first stream. */
export class Subscriptions {
  readonly #connection: Connection;
  readonly #outbox: Outbox;
  readonly #open = new Map<number, Listen>();
  #last = 0;

  constructor(connection: Connection, outbox: Outbox) {
    this.#connection = connection;
    this.#outbox = outbox;
  }

  get size(): number {
    return this.#open.size;
  }

  /** Starts a stream. Throws `invalid-argument`. The reader of the stream receives all other errors. */
  listen(
    name: Uint8Array,
    channel: string,
    args: Encoded,
    decode: (message: Received) => unknown,
    options: ListenOptions | undefined,
  ): Listener<Received> {
    const { signal, window, capacity = 0, whenFull, onDrop } = listenSettings(options);
    const id = this.#nextId();
    const remove = (notifyPeer: boolean): void => {
      if (!this.#open.delete(id) || this.#outbox.remove(listen) || !notifyPeer) return;
      this.#connection.control({ op: Op.stop, id });
    };
    const stream = new Listener<Received>(
      {
        decode,
        onDrop: guarded(onDrop, (error) => this.#connection.report(error, channel)),
        grant: (items, bytes) => {
          listen.items += items;
          listen.bytes += bytes;
          this.#sendCredit(listen);
        },
        cancel: () => remove(true),
        done: () => listen.unlisten(),
      },
      window,
      turnBudget,
    );
    const flags = policyNumber(whenFull) << whenFullShift;
    const parts = { op: Op.listen, id, name, channel, flags, a: window.items, b: window.bytes, c: capacity };
    const refuse = (reason: unknown): void => {
      remove(false);
      stream.fail(reason);
    };
    const listen: Listen = {
      id,
      channel,
      stream,
      items: 0,
      bytes: 0,
      unlisten: () => {},
      refuse,
      leave: () => this.#connection.send(parts, args),
      hold: () => args.value?.hold(),
    };
    const refusal = this.#refusal(channel, signal);
    if (refusal !== undefined) {
      stream.fail(refusal.reason);
      return stream;
    }
    for (const other of [...this.#open.values()]) {
      if (other.channel !== channel) continue;
      this.#open.delete(other.id);
      this.#outbox.remove(other);
      other.stream.ended(0, { error: replaced(channel) });
    }
    this.#open.set(id, listen);
    if (signal) {
      const unlisten = follow(
        signal,
        () => this.#open.get(id) === listen,
        (reason, unsent) => {
          remove(!unsent);
          stream.fail(reason);
        },
      );
      if (unlisten === undefined) return stream;
      listen.unlisten = unlisten;
    }
    this.#outbox.push(listen);
    return stream;
  }

  event({ id, a }: Head, message: Received): void {
    const listen = this.#open.get(id);
    const bytes =
      message.value?.bytes ?? message.attachments.reduce((sum, each) => sum + each.length, message.body.length);
    if (listen && !listen.stream.arrived(message, bytes, a))
      this.#connection.broken(`an event without credit: ${listen.channel}`);
  }

  end(frame: Head): void {
    const listen = this.#open.get(frame.id);
    if (listen === undefined) return;
    this.#open.delete(frame.id);
    listen.stream.ended(frame.b, frame.a === Status.done ? {} : { error: failure(frame, listen.channel) });
  }

  /** Sends credit that waits. The owner calls this when the transport has room again. */
  drain(): void {
    for (const listen of this.#open.values()) this.#sendCredit(listen);
  }

  // Without room, credit waits and adds up. Otherwise a peer that sends events and reads nothing would make one frame wait for
  // each of them.
  #sendCredit(listen: Listen): void {
    if (listen.items === 0 || this.#connection.congested) return;
    this.#connection.control({ op: Op.credit, id: listen.id, a: listen.items, b: listen.bytes });
    listen.items = listen.bytes = 0;
  }

  /** Ends all streams. The owner calls this when the transport has closed. */
  closed(): void {
    for (const { stream, channel } of this.#open.values())
      stream.ended(0, { error: this.#connection.closedError(`events of ${channel}`) });
    this.#open.clear();
  }

  #refusal(channel: string, signal: AbortSignal | undefined): { reason: unknown } | undefined {
    const { callsMax } = this.#connection.settings;
    const aborted = abortOf(signal);
    if (aborted) return aborted;
    if (this.#connection.over) return { reason: this.#connection.closedError(`events of ${channel}`) };
    if (this.#open.size < callsMax) return undefined;
    return { reason: new ClearwayError("queue-full", `too many open streams: callsMax=${callsMax}`) };
  }

  #nextId(): number {
    do this.#last = (this.#last % 0xffff_ffff) + 1;
    while (this.#open.has(this.#last));
    return this.#last;
  }
}

/** Returns the error that ends the first stream of a channel when a second one starts. */
export function replaced(channel: string): ClearwayError {
  return new ClearwayError("cancelled", `${channel}: a second listen took this one's place`);
}
