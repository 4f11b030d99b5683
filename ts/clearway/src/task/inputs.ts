// SPDX-License-Identifier: MIT OR Apache-2.0
import { decodeError, type WireError } from "../error/wire.js";
import { Consumer } from "../stream/consumer.js";
import type { Window } from "../stream/credit.js";
import { type InputStream, Op } from "../transport/protocol.js";
import type { Transport } from "../transport/transport.js";
import type { ServedCall } from "./served-call.js";

interface Announced {
  argument: number;
  id: number;
  window: Window;
}

/** The streams that callers feed into tasks: the worker is the consumer here, and holds the caller at the window. */
export class Inputs {
  readonly #transport: Transport;
  readonly #consumers = new Map<number, Consumer>();
  readonly #announced = new Map<number, Announced[]>();

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** A stream will stand in the place of an argument. Comes before its call, which may run as soon as it is read. */
  announce(callId: number, argument: number, [id, items, bytes]: InputStream): void {
    const input = { argument, id, window: { items, bytes } };
    const list = this.#announced.get(callId);
    if (list === undefined) this.#announced.set(callId, [input]);
    else list.push(input);
  }

  /** The call did not come after all. */
  forget(callId: number): void {
    this.#announced.delete(callId);
  }

  /** Puts the live streams into the call's arguments. */
  attach(call: ServedCall): void {
    const list = this.#announced.get(call.id);
    if (list === undefined) return;
    this.#announced.delete(call.id);
    call.inputs = list.map(({ argument, id, window }) => {
      const consumer = new Consumer(window, {
        grant: (items, bytes) => this.#transport.send(Op.Credit, id, items, bytes),
        cancel: () => this.#transport.send(Op.Cancel, id),
      });
      call.args[argument] = consumer;
      this.#consumers.set(id, consumer);
      return { id, consumer };
    });
  }

  /** A frame of a stream. Frames of a stream whose call is over are late, and dropped. */
  receive(op: typeof Op.Chunk | typeof Op.End | typeof Op.Abort, streamId: number, a: unknown, bytes: number): void {
    const consumer = this.#consumers.get(streamId);
    if (consumer === undefined) return;
    if (op === Op.Chunk) consumer.arrived(a, bytes);
    else if (op === Op.End) consumer.ended(a);
    else consumer.failed(decodeError(a as WireError));
  }

  /** The call is answered; the caller stops feeding by itself when it hears so. */
  end(call: ServedCall): void {
    for (const { id, consumer } of call.inputs ?? []) {
      this.#consumers.delete(id);
      consumer.ended(undefined);
    }
  }
}
