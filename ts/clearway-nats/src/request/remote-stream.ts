// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Batches, Stream } from "clearway";
import { ClearwayError } from "clearway/remote";
import type { RemoteCall } from "./remote-call.js";

// Ends a stream when its handle is garbage-collected. A forgotten stream would keep its worker's generator for ever, and the memory of its
// unread values would stay charged to the pool, also if the stream has ended.
const forgotten = new FinalizationRegistry<RemoteCall>((call) => {
  call.cancel(new ClearwayError("abandoned", "the stream was dropped"), "cancelled");
  call.incoming?.drop();
});

/** The values of a remote task. The pool refers to it only while a read waits, so it notices when the app drops it. */
export class RemoteStream implements Stream<unknown> {
  /** Structured clone rejects a symbol. Without this property, a stream inside of a value would arrive as an empty object. */
  readonly "a stream crosses only as an argument, or by yield*" = Symbol("a stream");
  readonly #call: RemoteCall;

  constructor(call: RemoteCall) {
    this.#call = call;
    forgotten.register(this, call, this);
  }

  next(): Promise<IteratorResult<unknown>> {
    return this.#read(false);
  }

  async return(value?: unknown): Promise<IteratorResult<never>> {
    forgotten.unregister(this);
    await this.#call.endedByReader();
    return { done: true, value: value as never };
  }

  /** Ends the stream, and rejects with the error, as a generator does. */
  async throw(reason?: unknown): Promise<IteratorResult<never>> {
    await this.return();
    throw reason;
  }

  batches(): Batches<unknown> {
    const batches: Batches<unknown> = {
      next: () => this.#read(true) as Promise<IteratorResult<unknown[]>>,
      return: (value?: unknown) => this.return(value),
      throw: (reason?: unknown) => this.throw(reason),
      [Symbol.asyncIterator]: () => batches,
      [Symbol.asyncDispose]: async () => {
        await this.return();
      },
    };
    return batches;
  }

  [Symbol.asyncIterator](): Stream<unknown> {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }

  // The handlers of the promise keep this handle alive while the read waits.
  #read(batch: boolean): Promise<IteratorResult<unknown>> {
    return this.#call.incoming!.next(batch).then(
      (result) => this.#after(result),
      (reason) => this.#failed(reason),
    );
  }

  #after(result: IteratorResult<unknown>): IteratorResult<unknown> {
    if (result.done) forgotten.unregister(this);
    return result;
  }

  #failed(reason: unknown): never {
    forgotten.unregister(this);
    throw reason;
  }
}

/**
 * Makes a promise iterable and returns it. Before a task's first answer, the pool does not know whether the task is a stream. The promise then
 * resolves with the result of the task, or with the stream itself.
 */
export function iterablePromise(promise: Promise<unknown>, stream: RemoteStream): Promise<unknown> & Stream<unknown> {
  const iterable = promise as Promise<unknown> & Stream<unknown>;
  for (const name of ["next", "batches", "return", "throw", Symbol.asyncIterator, Symbol.asyncDispose] as const) {
    const value = (argument?: unknown): unknown => {
      // A caller that iterates receives a failure from the iterator. The rejection of the promise must then not count as unhandled.
      promise.catch(() => {});
      return (stream as unknown as Record<typeof name, (argument: unknown) => unknown>)[name](argument);
    };
    Object.defineProperty(iterable, name, { value, configurable: true, writable: true });
  }
  return iterable;
}
