// SPDX-License-Identifier: MIT OR Apache-2.0
import { OwnPromise } from "../globals.js";
import { Consumer } from "../stream/consumer.js";
import { iteratorOf, Producer, type ProducerWire } from "../stream/producer.js";
import type { PortTransport } from "../transport/port.js";
import { CallFlag, InputKind, type InputStream, Op } from "../transport/protocol.js";
import { CallbackStub } from "./callback-stub.js";
import type { Announced, ServedCall } from "./served-call.js";
import type { TaskInput } from "./task-input.js";

/** Returns a producer that reads a generator's iterator. Throws a TypeError if the value has no iterator. */
export function produce(iterator: unknown, wire: ProducerWire): Producer {
  const found = iteratorOf(iterator);
  if (found === undefined) throw new TypeError("a generator gave no iterator");
  return new Producer(found, wire);
}

/**
 * The streams and callbacks that callers pass to tasks. The worker is the consumer of a stream. The window limits how far the caller runs
 * ahead.
 */
export class Inputs {
  readonly #transport: PortTransport;
  readonly #inputs = new Map<number, TaskInput>();

  constructor(transport: PortTransport) {
    this.#transport = transport;
  }

  /** Puts the streams and callbacks into the call's arguments. */
  attach(call: ServedCall, announced: readonly Announced[]): void {
    call.inputs = announced.map(([argument, input]) => {
      const [id, items, bytes, , methods] = input;
      const stub = isCallback(input) && new CallbackStub(this.#transport, id, items ?? 1, call.has(CallFlag.strict));
      const end = stub || this.#consumer(id, items, bytes);
      call.args[argument] = stub ? stub.argument(methods) : end;
      this.#inputs.set(id, end);
      return { id, end };
    });
  }

  #consumer(id: number, items: number | undefined, bytes: number): Consumer {
    return new Consumer(
      { items, bytes },
      {
        grant: (items, bytes) => this.#transport.send(Op.Credit, id, items, bytes),
        cancel: () => this.#transport.send(Op.Cancel, id),
      },
    );
  }

  /** Returns the input that a frame belongs to. Returns undefined if the input's call is over. Such a frame came late and is dropped. */
  of(id: number): TaskInput | undefined {
    return this.#inputs.get(id);
  }

  /**
   * Prepares the inputs of a call for its answer. Returns a promise if calls of its callbacks must be sent before. They wait for answers to
   * earlier calls.
   */
  finish({ inputs = [] }: ServedCall): Promise<unknown> | undefined {
    const waiting = inputs.flatMap(({ end }) => end.finish?.() ?? []);
    return waiting.length > 0 ? OwnPromise.all(waiting) : undefined;
  }

  /** Ends the inputs of a call that was answered. The caller stops sending when it reads the answer. */
  end(call: ServedCall): void {
    for (const { id, end } of call.inputs ?? []) {
      this.#inputs.delete(id);
      end.ended(undefined);
    }
  }
}

function isCallback([, , , kind]: InputStream): boolean {
  return kind === InputKind.callback;
}
