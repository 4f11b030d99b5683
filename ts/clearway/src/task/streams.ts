// SPDX-License-Identifier: MIT OR Apache-2.0
import { Consumer } from "../stream/consumer.js";
import { iteratorOf, Producer, type ProducerWire } from "../stream/producer.js";
import { Op } from "../transport/protocol.js";
import type { Transport } from "../transport/transport.js";
import type { Announced, ServedCall } from "./served-call.js";

/** Returns a producer that reads a generator's iterator. Throws a TypeError if the value has no iterator. */
export function produce(iterator: unknown, wire: ProducerWire): Producer {
  const found = iteratorOf(iterator);
  if (found === undefined) throw new TypeError("a generator gave no iterator");
  return new Producer(found, wire);
}

/** The streams that callers pass to tasks. The worker is the consumer. The window limits how far the caller runs ahead. */
export class Inputs {
  readonly #transport: Transport;
  readonly #consumers = new Map<number, Consumer>();

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Puts the streams into the call's arguments. */
  attach(call: ServedCall, announced: readonly Announced[]): void {
    call.inputs = announced.map(([argument, [id, items, bytes]]) => {
      const consumer = new Consumer(
        { items, bytes },
        {
          grant: (items, bytes) => this.#transport.send(Op.Credit, id, items, bytes),
          cancel: () => this.#transport.send(Op.Cancel, id),
        },
      );
      call.args[argument] = consumer;
      this.#consumers.set(id, consumer);
      return { id, consumer };
    });
  }

  /** Returns the stream that a frame belongs to. Returns undefined if the stream's call is over. Such a frame came late and is dropped. */
  of(id: number): Consumer | undefined {
    return this.#consumers.get(id);
  }

  /** Ends the streams of a call that was answered. The caller stops sending when it reads the answer. */
  end(call: ServedCall): void {
    for (const { id, consumer } of call.inputs ?? []) {
      this.#consumers.delete(id);
      consumer.ended(undefined);
    }
  }
}
