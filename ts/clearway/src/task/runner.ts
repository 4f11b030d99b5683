// SPDX-License-Identifier: MIT OR Apache-2.0

import { afterMessages } from "#host";
import { isThenable } from "../error/checked.js";
import { ClearwayError } from "../error/clearway-error.js";
import { clock, OwnPromise, queueMicrotask } from "../globals.js";
import { type Held, Leases } from "../resource/resource.js";
import { Consumer } from "../stream/consumer.js";
import { iteratorOf, Producer } from "../stream/producer.js";
import { CodedValue } from "../transfer/crossing.js";
import { revive } from "../transfer/revive.js";
import type { PortTransport } from "../transport/port.js";
import { CallFlag, type HelloSettings, InputKind, type InputStream, Op } from "../transport/protocol.js";
import { sliceBudgetMs } from "../transport/slices/piece.js";
import type { Answers } from "./answers.js";
import { CallbackStub, type TaskInput } from "./callback-stub.js";
import { CallContext, Progress, unlessCancelled } from "./context.js";
import { isGenerator, type TaskDefinition } from "./task.js";

// Maximum time in milliseconds for which results are held back to share a message, and for which `pump` begins calls before the worker reads
// messages, such as a cancel. A wake-up costs a twentieth of this time, so a longer time would gain nothing.
const holdMs = 1;

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

/** The streams and callbacks that callers pass to tasks. The worker is the consumer of a stream. */
class Inputs {
  readonly #transport: PortTransport;
  readonly #inputs = new Map<number, TaskInput>();

  constructor(transport: PortTransport) {
    this.#transport = transport;
  }

  /** Puts the streams and callbacks into the call's arguments. */
  attach(call: ServedCall, announced: readonly Announced[]): void {
    call.inputs = announced.map(([argument, input]) => {
      const [id, items, bytes, kind, methods] = input;
      const strict = call.has(CallFlag.strict);
      const stub = kind === InputKind.callback && new CallbackStub(this.#transport, id, items ?? 1, strict);
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

/** Runs calls in order, up to `concurrency` at once. Answers each call exactly once. */
export class Runner {
  /** The worker's open resources. */
  readonly leases = new Leases();
  /** Streams and callbacks from callers. */
  readonly inputs: Inputs;
  /** Whether the worker is about to end. Calls that have not begun go to another worker, even if this thread continues for a moment. */
  ending = false;
  readonly #transport: PortTransport;
  readonly #answers: Answers;
  readonly #settings: HelloSettings;
  readonly #settled: (call: ServedCall, finishedMs: number) => void;
  #waiting: ServedCall[] = [];
  #running = 0;
  /** Calls that have begun. Used only if several calls may run at once. */
  readonly #begun = new Set<ServedCall>();
  #guarded = 0;
  #pumping = false;

  constructor(
    transport: PortTransport,
    answers: Answers,
    settings: HelloSettings,
    settled: (call: ServedCall, finishedMs: number) => void,
  ) {
    this.#transport = transport;
    this.inputs = new Inputs(transport);
    this.#answers = answers;
    this.#settings = settings;
    this.#settled = settled;
  }

  add(call: ServedCall): void {
    this.#waiting.push(call);
  }

  /** Removes a call that has not begun. Returns false if the call has begun. */
  withdraw(call: ServedCall): boolean {
    const at = this.#waiting.indexOf(call);
    if (at >= 0) this.#waiting.splice(at, 1);
    return at >= 0;
  }

  /** Runs the calls that may run. Synchronous tasks run here, one after the other. Other tasks are started here and answer later. */
  readonly pump = (): void => {
    if (this.#pumping || this.ending) return;
    this.#pumping = true;
    let clockMs = clock();
    let heldSince = clockMs;
    let at = 0;
    try {
      while (!this.ending && at < this.#waiting.length && this.#running < this.#settings.concurrency) {
        clockMs = this.#begin(this.#waiting[at++]!, clockMs);
        if (clockMs - heldSince <= holdMs) {
          // The next call may take long. The results of this one and of earlier ones must not wait for it.
          if (at < this.#waiting.length) this.#transport.hurry(clockMs);
          continue;
        }
        this.#transport.flush();
        heldSince = clockMs;
        if (at < this.#waiting.length) {
          afterMessages(this.pump);
          break;
        }
      }
    } finally {
      this.#waiting.splice(0, at);
      this.#pumping = false;
    }
  };

  // Begins a call. Returns the time after it, so that a series of small tasks reads the clock once per task.
  #begin(call: ServedCall, startedMs: number): number {
    call.begun = true;
    call.startedMs = startedMs;
    const { kind, resources } = call.definition;
    if (kind === "function") this.#running++;
    if (call.has(CallFlag.guarded) || this.#settings.concurrency > 1) this.#recordStart(call);
    if (resources !== undefined || call.announced !== undefined || call.args.some(isUnread)) {
      void this.#prepare(call);
      return clock();
    }
    return this.#run(call);
  }

  #recordStart(call: ServedCall): void {
    const guarded = call.has(CallFlag.guarded);
    if (guarded) this.#guarded++;
    if (this.#settings.concurrency > 1) this.#begun.add(call);
    if (this.#guarded === 0) return;
    // The pool may have to kill the worker to stop this call. Before that, this thread must have sent all earlier results, and the pool
    // must know which calls have begun.
    if (guarded && this.#guarded === 1) for (const each of this.#begun) this.#sendStarted(each);
    this.#sendStarted(call);
    this.#transport.flush();
  }

  #sendStarted(call: ServedCall): void {
    if (call.startSent) return;
    call.startSent = true;
    this.#transport.send(Op.Started, call.id);
  }

  async #prepare(call: ServedCall): Promise<void> {
    const { args, announced, definition } = call;
    try {
      if (announced !== undefined) this.inputs.attach(call, announced);
      // With `Promise.all`, every call with a resource would wait one turn.
      for (let at = 0; at < args.length; at++) if (isUnread(args[at])) args[at] = await revive(args[at]);
      const { resources } = definition;
      if (resources !== undefined) call.held = await unlessCancelled(call, this.leases.hold(resources));
      if (call.cancelled !== undefined) throw call.cancelled.reason;
    } catch (reason) {
      this.#finish(call, false, reason);
      return;
    }
    this.#run(call);
  }

  #run(call: ServedCall): number {
    const { definition, args } = call;
    try {
      const result = definition.wantsContext ? definition.run(this.#context(call), ...args) : definition.run(...args);
      if (definition.kind === "stream") {
        this.#stream(call, result);
      } else if (isObject(result) && isThenable(result)) {
        // As `await` does: a thenable or a promise of a subclass is read by its own `then`, which may settle twice, or throw after that. A plain
        // promise's own `then` is not called.
        thenOf.call(
          OwnPromise.resolve(result),
          (value) => this.#finish(call, true, value),
          (reason) => this.#finish(call, false, reason),
        );
      } else {
        return this.#finish(call, true, result);
      }
      return clock();
    } catch (reason) {
      return this.#finish(call, false, reason);
    }
  }

  #context(call: ServedCall): CallContext {
    if (call.has(CallFlag.progress)) call.progress = new Progress((value) => this.#sendProgress(call, value));
    const context = new CallContext({
      id: call.id,
      cancelCells: this.#settings.cancelCells,
      progress: (value) => {
        if (!call.over) call.progress?.report(value);
      },
    });
    if (call.held !== undefined) Object.assign(context, call.held.values);
    call.context = context;
    return context;
  }

  #sendProgress(call: ServedCall, value: unknown): number {
    const units = this.#answers.progress(call.id, value);
    // The task may go on without letting this thread's turn end.
    this.#transport.hurry(clock());
    return units;
  }

  #stream(call: ServedCall, result: unknown): void {
    const iterator = iteratorOf(result);
    if (iterator === undefined) throw new TypeError("a generator gave no iterator");
    call.producer = new Producer(iterator, {
      transport: this.#transport,
      chunk: (value, weigh) => {
        call.progress?.last();
        return this.#answers.chunk(call, value, weigh);
      },
      end: (value) => {
        // A synchronous generator may end in the same tick as its last values. Only a flush shows whether these values can be sent to the
        // other thread.
        this.#transport.flush();
        if (call.refusal === undefined) this.#finish(call, true, value);
        else this.#finish(call, false, call.refusal);
      },
      fail: (reason) => this.#finish(call, false, call.refusal ?? reason),
    });
    call.producer.grant(call.earlyItems, call.earlyBytes);
    if (call.cancelled !== undefined) call.producer.stop();
  }

  // Ends a call. Every call that has begun ends through this method. Releases the call's resources before the answer, so that the caller's
  // next call finds them idle. The answer also waits for calls of the call's callbacks that are not sent yet. A cancelled call is answered at once,
  // because its grace period is for the task alone; the next call still waits for the resources.
  #finish(call: ServedCall, ok: boolean, outcome: unknown): number {
    const finishedMs = clock();
    const { held } = call;
    const sending = call.inputs && this.inputs.finish(call);
    if (held === undefined && sending === undefined) {
      this.#answer(call, ok, outcome, finishedMs);
    } else {
      call.held = undefined;
      const how = call.cancelled !== undefined ? "cancelled" : ok ? "ok" : "failed";
      const released = OwnPromise.all([held?.release(how), sending]);
      const answer = (leaves?: Promise<unknown>): void => {
        call.giveUp = undefined;
        if (!call.over) this.#answer(call, ok, outcome, finishedMs, leaves);
      };
      call.giveUp = () => answer(released);
      if (call.cancelled !== undefined) answer(released);
      else void released.then(() => answer());
    }
    return finishedMs;
  }

  #answer(call: ServedCall, ok: boolean, outcome: unknown, finishedMs: number, leaves?: Promise<unknown>): void {
    call.progress?.last();
    call.over = true;
    if (leaves === undefined) this.#leave(call);
    else void leaves.then(() => this.#leave(call));
    if (call.has(CallFlag.guarded)) this.#guarded--;
    this.#begun.delete(call);
    this.#settled(call, finishedMs);
    const runUs = Math.max(0, Math.round((finishedMs - call.startedMs) * 1000));
    if (!ok) this.#answers.failure(call.id, outcome, runUs);
    else if (!isObject(outcome) && typeof outcome !== "symbol")
      this.#transport.send(Op.Result, call.id, outcome, runUs);
    else if (call.definition.kind === "function" && isGenerator(outcome))
      this.#answers.failure(call.id, generatorReturned(), runUs);
    else this.#answers.result(call, outcome as object, runUs);
  }

  #leave({ definition }: ServedCall): void {
    if (definition.kind === "function") this.#running--;
    // A `pump` that is running continues by itself.
    if (!this.#pumping && this.#waiting.length > 0) queueMicrotask(this.pump);
  }
}

// Own methods of a promise are code of the task.
const thenOf = OwnPromise.prototype.then;

const isUnread = (value: unknown): boolean => value instanceof CodedValue;

// The most common results are no objects: they contain no memory that could move. `isPrimitive` would be one more file on the way of a call.
function isObject(value: unknown): value is object {
  return value !== null && (typeof value === "object" || typeof value === "function");
}

function generatorReturned(): ClearwayError {
  return new ClearwayError(
    "not-cloneable",
    "the task returned a generator: write the task itself, or the function in offload(), as one (async function*)",
  );
}
