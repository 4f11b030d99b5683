// SPDX-License-Identifier: MIT OR Apache-2.0
import { afterMessages } from "#host";
import { ClearwayError } from "../error/clearway-error.js";
import { clock, newAbortController } from "../globals.js";
import type { Held } from "../resource/resource.js";
import type { Producer } from "../stream/producer.js";
import { roughBytes } from "../transfer/uncloneable.js";
import type { InputStream } from "../transport/protocol.js";
import { sliceBudgetMs } from "../transport/slices/piece.js";
import type { TaskInput } from "./callback-stub.js";
import type { TaskContext, TaskDefinition } from "./task.js";

/**
 * Maximum number of units of progress that a call's listener has not acknowledged: 8,192 small values, or 4 MiB of larger ones. If the
 * listener's thread is blocked for 100 ms, a task that reports every 13 us stays within this window.
 */
export const progressWindow = 8192;
// Bytes per unit. A value costs one unit, plus one more for every full 512 bytes in it.
const unitBytes = 512;
// If the window is used up and the thread has read no messages for this many milliseconds, one more value is sent. A task that blocks its
// thread for this long cannot receive acknowledgements.
const blockedMs = 100;

/** The thread's clock and message loop. Tests replace them. */
interface ProgressClock {
  nowMs(): number;
  /** Calls `next` after the thread has read the messages that are waiting now. */
  afterMessages(next: () => void): void;
}

const threadClock: ProgressClock = { nowMs: clock, afterMessages };

/** Returns the cost of a posted value in units. */
export function unitsOf(value: unknown): number {
  return 1 + Math.floor(roughBytes(value, progressWindow * unitBytes) / unitBytes);
}

/**
 * Sends the progress of one call in order, at most a window ahead of its listener. Beyond the window, only the newest value waits. That
 * value is sent when the listener has caught up, or by `last()`. A task that never yields its thread cannot receive acknowledgements.
 * Beyond the window, such a task sends ten values per second.
 */
export class Progress {
  readonly #send: (value: unknown) => number;
  readonly #clock: ProgressClock;
  #unread = 0;
  #waiting: { value: unknown } | undefined;
  /**
   * Time in milliseconds from which `#isBlocked` counts how long the thread has read no messages. Undefined while `#isBlocked` does not
   * count.
   */
  #checkSinceMs: number | undefined;

  /** `send` posts a value and returns its cost in units. */
  constructor(send: (value: unknown) => number, clock = threadClock) {
    this.#send = send;
    this.#clock = clock;
  }

  report(value: unknown): void {
    if (this.#unread < progressWindow || this.#isBlocked()) this.#sendNow(value);
    else this.#waiting = { value };
  }

  /** Records that the listener has read `units` more. Sends the waiting value if the window has room. */
  read(units: number): void {
    this.#unread = Math.max(0, this.#unread - units);
    if (this.#unread < progressWindow) this.last();
  }

  /** Sends the waiting value, so that no later frame overtakes it. */
  last(): void {
    if (this.#waiting) this.#sendNow(this.#waiting.value);
  }

  #sendNow(value: unknown): void {
    this.#waiting = undefined;
    this.#unread += this.#send(value);
  }

  // Returns whether the thread has read no message for `blockedMs`. The first value after a message starts a new check.
  #isBlocked(): boolean {
    const nowMs = this.#clock.nowMs();
    if (this.#checkSinceMs === undefined) {
      this.#checkSinceMs = nowMs;
      this.#clock.afterMessages(() => {
        this.#checkSinceMs = undefined;
      });
    }
    if (nowMs - this.#checkSinceMs < blockedMs) return false;
    this.#checkSinceMs = nowMs;
    return true;
  }
}

/** The part of a call that its context uses. */
interface ContextWire {
  readonly id: number;
  readonly cancelCells: Int32Array | undefined;
  progress(value: unknown): void;
}

/** The context of one call. Makes the abort signal at its first use, because most tasks never use it. */
export class CallContext implements TaskContext {
  readonly #wire: ContextWire;
  #controller: AbortController | undefined;
  #reason: { value: unknown } | undefined;
  #wasRead = false;
  /** Bound to this object, so that a task may destructure its context. */
  readonly progress = (value: unknown): void => this.#wire.progress(value);

  constructor(wire: ContextWire) {
    this.#wire = wire;
  }

  /** Returns whether the task has read `signal` or `cancelled`. */
  static listens(context: CallContext): boolean {
    return context.#wasRead;
  }

  get signal(): AbortSignal {
    this.#wasRead = true;
    if (this.#controller === undefined) {
      this.#controller = newAbortController();
      if (this.#reason !== undefined) this.#controller.abort(this.#reason.value);
    }
    return this.#controller.signal;
  }

  get cancelled(): boolean {
    this.#wasRead = true;
    if (this.#reason !== undefined) return true;
    const { cancelCells, id } = this.#wire;
    // Pairs with the store in `pool/lifecycle/cancel.ts`. The id is the only data that this store publishes. No other memory depends on it.
    return cancelCells !== undefined && Atomics.load(cancelCells, cellOf(id, cancelCells)) === id;
  }

  /** Cancels the context of a call. The method is static, so that a resource may have the name `cancel`. */
  static cancel(context: CallContext, reason: unknown): void {
    if (context.#reason !== undefined) return;
    context.#reason = { value: reason };
    context.#controller?.abort(reason);
  }
}

/**
 * Returns the index of the cell that records a call's cancel. Two calls of one worker may share a cell. The later cancel then overwrites
 * the earlier one. The call with the earlier cancel learns of it by message, as without shared memory.
 */
export function cellOf(id: number, cells: Int32Array): number {
  return id & (cells.length - 1);
}

/**
 * Number of cells per worker (256 bytes). Calls that are cancelled at the same time are rarely more. A power of two, as `cellOf` requires.
 */
export const cancelCellCount = 64;

/**
 * Returns a context for unit tests of tasks: `myTask(testContext(), 1, 2)`. By default, its signal never aborts and it ignores progress.
 * Pass other members, and the resources that the task uses, in `extra`.
 */
export function testContext(): TaskContext;
export function testContext<Extra extends object>(extra: Extra & Partial<TaskContext>): TaskContext & Extra;
export function testContext<Extra extends object>(extra?: Extra & Partial<TaskContext>): TaskContext & Extra {
  if (extra !== undefined && (typeof extra !== "object" || extra === null)) {
    throw new ClearwayError("invalid-argument", "testContext() takes an object of context properties");
  }
  const signal = extra?.signal ?? newAbortController().signal;
  const base: TaskContext = {
    signal,
    get cancelled() {
      return signal.aborted;
    },
    progress: () => {},
  };
  return Object.create(base, extra === undefined ? {} : Object.getOwnPropertyDescriptors(extra)) as TaskContext & Extra;
}

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
