// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Held } from "../resource/leases.js";
import type { Consumer } from "../stream/consumer.js";
import type { Producer } from "../stream/producer.js";
import type { InputStream } from "../transport/protocol.js";
import { CallContext } from "./context.js";
import type { Progress } from "./progress.js";
import type { TaskDefinition } from "./task.js";

/** A stream that replaces the argument at this position. */
export type Announced = [argument: number, stream: InputStream];

/** One call as the worker sees it, from its arrival to its answer. */
export class ServedCall {
  /** Streams that stand for arguments, until they are attached. */
  announced: readonly Announced[] | undefined;
  /** What it tells its listener; undefined where nobody listens, or it takes no context. */
  progress: Progress | undefined;
  /** Streams that the caller feeds. */
  inputs: { id: number; consumer: Consumer }[] | undefined;
  context: CallContext | undefined;
  held: Held | undefined;
  producer: Producer | undefined;
  /** Credit that came before the task could start its stream. */
  earlyItems = 0;
  earlyBytes = 0;
  /** Ends the wait for its resources. */
  giveUp: ((reason: unknown) => void) | undefined;
  begun = false;
  /** The caller knows that it began. */
  startTold = false;
  over = false;
  /** Why it was cancelled; undefined while it was not. */
  cancelled: { reason: unknown } | undefined;
  /** A value of its stream could not cross: what it fails with when its iterator is closed. */
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

  /** Tells everything that waits inside the task. The task itself decides when it ends. */
  cancel(reason: unknown): void {
    this.cancelled ??= { reason };
    if (this.context !== undefined) CallContext.cancel(this.context, reason);
    this.held?.cancel();
    for (const { consumer } of this.inputs ?? []) consumer.failed(reason);
    this.giveUp?.(reason);
    this.producer?.stop(!this.#listens);
  }

  // Whether anything tells the task of a cancel: its context, if it has looked, a resource, a stream that it reads.
  get #listens(): boolean {
    const looks = this.context !== undefined && CallContext.listens(this.context);
    return looks || this.held !== undefined || this.inputs !== undefined;
  }
}
