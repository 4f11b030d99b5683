// SPDX-License-Identifier: MIT OR Apache-2.0

/** What every stream has at its reading end, whatever its `next` and `return` do. */
export abstract class Reader implements AsyncIterableIterator<unknown, unknown, void>, AsyncDisposable {
  abstract next(): Promise<IteratorResult<unknown>>;
  abstract return(value?: unknown): Promise<IteratorResult<unknown>>;

  /** Ends the stream, then throws: the producer is in another thread and hears of the end only. */
  async throw(reason: unknown): Promise<IteratorResult<unknown>> {
    await this.return();
    throw reason;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }
}
