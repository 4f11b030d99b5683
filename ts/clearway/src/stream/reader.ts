// SPDX-License-Identifier: MIT OR Apache-2.0
import { asyncDispose } from "../globals.js";

/** Base class for the receiving end of every stream. */
export abstract class Reader<T = unknown> implements AsyncIterableIterator<T, unknown, void>, AsyncDisposable {
  /** Structured clone rejects a symbol. Without this property, a stream inside of a value would arrive as an empty object. */
  readonly "a stream crosses only as an argument, or by yield*" = Symbol("a stream");

  abstract next(): Promise<IteratorResult<T, unknown>>;
  abstract return(value?: unknown): Promise<IteratorResult<T, unknown>>;

  /**
   * Ends the stream, then rejects with the reason. The producer is in another thread. The producer learns that the stream ended, but not
   * the reason.
   */
  async throw(reason: unknown): Promise<IteratorResult<T, unknown>> {
    await this.return();
    throw reason;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [asyncDispose](): Promise<void> {
    await this.return();
  }
}
