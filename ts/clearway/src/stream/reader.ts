// SPDX-License-Identifier: MIT OR Apache-2.0

/** The methods that the reading ends of all streams share. */
export abstract class Reader implements AsyncIterableIterator<unknown, unknown, void>, AsyncDisposable {
  abstract next(): Promise<IteratorResult<unknown>>;
  abstract return(value?: unknown): Promise<IteratorResult<unknown>>;

  /** Ends the stream, then throws the reason. The producer is in another thread and only learns of the end. */
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
