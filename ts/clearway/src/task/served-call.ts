// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Held } from "../resource/leases.js";
import type { Producer } from "../stream/producer.js";
import type { InputStream } from "../transport/protocol.js";
import { CallContext } from "./context.js";
import type { Progress } from "./progress.js";
import type { TaskDefinition } from "./task.js";
import type { TaskInput } from "./task-input.js";

/** A stream or a callback that replaces the argument at this index. */
export type Announced = [argument: number, stream: InputStream];

/** One call in its worker, from its arrival to its answer. */
export class ServedCall {
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
