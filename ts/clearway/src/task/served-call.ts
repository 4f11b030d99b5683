// SPDX-License-Identifier: MIT OR Apache-2.0

import { OwnPromise } from "../globals.js";
import type { Held } from "../resource/resource.js";
import { Consumer } from "../stream/consumer.js";
import { iteratorOf, Producer, type ProducerWire } from "../stream/producer.js";
import type { PortTransport } from "../transport/port.js";
import { CallFlag, InputKind, type InputStream, Op } from "../transport/protocol.js";
import { sliceBudgetMs } from "../transport/slices/piece.js";
import { CallbackStub, type TaskInput } from "./callback-stub.js";
import { CallContext, type Progress } from "./context.js";
import type { TaskDefinition } from "./task.js";

/** A stream or a callback that replaces the argument at this index. */
export type Announced = [argument: number, stream: InputStream];

/** One call in its worker, from its arrival to its answer. */
export class ServedCall {
  /** How long the result may hold the caller in one message, in milliseconds. */
  budgetMs = sliceBudgetMs;
  /** Streams and callbacks that replace arguments. */
  announced: readonly Announced[] | undefined;
  /** Sends progress. Undefined without a listener, or if the task takes no context. */
  progress: Progress | undefined;
  /** Streams and callbacks from the caller. */
  inputs: { id: number; end: TaskInput }[] | undefined;
  context: CallContext | undefined;
  held: Held | undefined;
  producer: Producer | undefined;
  /** Credit that arrived before the task's stream began. */
  earlyItems = 0;
  earlyBytes = 0;
  /** Ends the call's wait for its resources. Undefined if it does not wait. */
  giveUp: ((reason: unknown) => void) | undefined;
  begun = false;
  /** Whether `Started` was sent. */
  startSent = false;
  over = false;
  /** The reason of the cancel. Undefined unless the call was cancelled. */
  cancelled: { reason: unknown } | undefined;
  /** The error for a value of the call's stream that could not be sent. The call fails with it once the iterator is closed. */
  refusal: unknown;
  startedMs = 0;

  constructor(
    readonly id: number,
    /** Name of the task. */
    readonly task: string,
    readonly definition: TaskDefinition,
    readonly flags: number,
    readonly args: unknown[],
  ) {}

  has(flag: number): boolean {
    return (this.flags & flag) !== 0;
  }

  grant(items: number, bytes: number): void {
    if (this.producer !== undefined) return this.producer.grant(items, bytes);
    this.earlyItems += items;
    this.earlyBytes += bytes;
  }

  /** Cancels everything that the task waits for. The task itself decides when it ends. */
  cancel(reason: unknown): void {
    this.cancelled ??= { reason };
    if (this.context !== undefined) CallContext.cancel(this.context, reason);
    this.held?.cancel();
    for (const { end } of this.inputs ?? []) end.failed(reason);
    this.giveUp?.(reason);
    this.producer?.stop(!this.#listens);
  }

  // Whether the task can notice a cancel. A task can if it has read its context's signal, holds a resource, or has a stream from the
  // caller.
  get #listens(): boolean {
    const readsSignal = this.context !== undefined && CallContext.listens(this.context);
    return readsSignal || this.held !== undefined || this.inputs !== undefined;
  }
}

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
