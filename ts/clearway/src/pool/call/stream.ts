// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError } from "../../error/clearway-error.js";
import { asyncDispose, OwnPromise } from "../../globals.js";
import type { Consumer, ConsumerWire } from "../../stream/consumer.js";
import { Reader } from "../../stream/reader.js";
import type { Batches, Stream } from "../../task/task.js";
import { Op } from "../../transport/protocol.js";
import type { Engine } from "../engine.js";
import type { LifecycleCode } from "../lifecycle/lifecycle.js";
import { type PoolCall, settleEnded } from "./call.js";

// Ends a stream when its handle is garbage-collected. A forgotten stream would keep its worker's generator for ever.
const forgotten = new FinalizationRegistry<CallStream>((stream) =>
  stream.end(() => new ClearwayError("abandoned", "the stream was dropped")),
);

/** The pool's side of a call's stream. Refers to the caller's handle only weakly. */
export class CallStream implements ConsumerWire {
  /** Undefined until the lifecycle is loaded. */
  consumer: Consumer | undefined;
  readonly #engine: Engine;
  readonly #call: PoolCall;
  /** Weak reference to the caller's handle. The reference is empty once the caller has dropped the handle and it was garbage-collected. */
  readonly #handle: WeakRef<StreamHandle>;
  /** The end of the call, if it came before there was a consumer. */
  #pendingEnd: ((consumer: Consumer) => void) | undefined;
  /** The reader's requests from before there was a consumer, in order. */
  #requests: (() => void)[] = [];

  constructor(call: PoolCall, engine: Engine, handle: StreamHandle) {
    this.#call = call;
    this.#engine = engine;
    this.#handle = new WeakRef(handle);
    forgotten.register(handle, this, this);
  }

  /** The object that the caller holds. Undefined once it was garbage-collected. */
  get handle(): StreamHandle | undefined {
    return this.#handle.deref();
  }

  /** Makes the consumer. Its code is a part of the lifecycle. */
  open(lifecycle: LifecycleCode): void {
    if (this.consumer) return;
    this.consumer = new lifecycle.Consumer(this.#call.options.window, this);
    this.#pendingEnd?.(this.consumer);
    for (const request of this.#requests.splice(0)) request();
  }

  /**
   * Calls `request` once there is a consumer. Loads the code of the consumer. If that fails, ends the stream and calls `fail`. `close()` of
   * the pool waits for the request.
   */
  later(request: () => void, fail: (reason: unknown) => void): void {
    this.#requests.push(request);
    this.#engine.loadLifecycle().then(
      (lifecycle) => this.open(lifecycle),
      (why) => {
        this.end(() => why);
        fail(why);
      },
    );
  }

  /** Passes the end of the call to the consumer, now or once there is one. */
  finish(end: (consumer: Consumer) => void): void {
    // Without this, the registry would keep the call until the garbage collector has found the handle and called back.
    forgotten.unregister(this);
    if (this.consumer) end(this.consumer);
    else this.#pendingEnd ??= end;
  }

  /**
   * Ends the call if it is a stream, because no reader is left for it. A call that is not a stream continues. For such a call, `why` is not
   * called and no error is made.
   */
  end(why: () => ClearwayError): void {
    this.#requests = [];
    if (this.#call.isStream) this.#engine.cancel(this.#call, why());
  }

  grant(items: number, bytes: number): void {
    const { id, worker, state } = this.#call;
    if (worker) {
      worker.transport.send(Op.Credit, id, items, bytes);
      worker.count(this.#call);
      worker.setRef(true);
    } else if (state === "idle") this.#engine.enqueue(this.#call);
  }

  cancel(): void {
    // The reader's `return()` does not settle here. That promise settles after the task's `finally` has run.
    this.#engine.cancel(this.#call, undefined, settleEnded);
  }
}

/** The caller's side of a stream. The pool refers to it only weakly, so it notices when the caller drops the handle. */
export class StreamHandle extends Reader implements Stream<unknown> {
  readonly #stream: CallStream;

  constructor(call: PoolCall, engine: Engine) {
    super();
    this.#stream = call.stream = new CallStream(call, engine, this);
  }

  next(): Promise<IteratorResult<unknown>> {
    return this.#request("next");
  }

  return(value?: unknown): Promise<IteratorResult<never>> {
    return this.#request("return", value);
  }

  batches(): Batches<unknown> {
    // The functions keep this handle alive.
    return {
      __proto__: Reader.prototype,
      next: () => this.#request("nextBatch"),
      return: (value?: unknown) => this.return(value),
    } as unknown as Reader<unknown[]>;
  }

  #request(what: "next" | "nextBatch" | "return", value?: unknown): Promise<IteratorResult<never>> {
    const stream = this.#stream;
    const { consumer } = stream;
    if (consumer) {
      // Keeps the handle alive while the caller awaits a value.
      consumer.keepAlive = this;
      return consumer[what](value) as Promise<IteratorResult<never>>;
    }
    return new OwnPromise((resolve, reject) => stream.later(() => resolve(this.#request(what, value)), reject));
  }
}

/**
 * Makes a promise iterable and returns it. Before the first worker is ready, the pool does not know whether a task is a stream. The promise
 * then resolves with the result of the task, or with the stream itself.
 */
export function iterablePromise(promise: Promise<unknown>, stream: StreamHandle): Promise<unknown> & Stream<unknown> {
  const iterable = promise as Promise<unknown> & Stream<unknown>;
  for (const name of ["next", "batches", "return", "throw", Symbol.asyncIterator, asyncDispose] as const) {
    iterable[name] = (value?: unknown) => {
      // A caller that iterates receives a failure from the iterator. The rejection of the promise must then not count as unhandled.
      promise.catch(() => {});
      return (stream as Record<typeof name, (value: unknown) => unknown>)[name](value) as never;
    };
  }
  return iterable;
}
