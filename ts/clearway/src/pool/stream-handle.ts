// SPDX-License-Identifier: MIT OR Apache-2.0

import type { Consumer } from "../stream/consumer.js";
import { Reader } from "../stream/reader.js";
import type { Stream } from "../task/caller.js";

// A stream that its reader forgot would hold its worker's generator for ever. When the handle is collected, it is ended.
const forgotten = new FinalizationRegistry<() => void>((abandon) => abandon());

/** What the caller holds of a stream. The pool holds the consumer only, so that a dropped handle can be noticed. */
export class StreamHandle extends Reader implements Stream<unknown> {
  readonly #consumer: Consumer;

  constructor(consumer: Consumer, abandon: () => void) {
    super();
    this.#consumer = consumer;
    forgotten.register(this, abandon);
  }

  next(): Promise<IteratorResult<unknown>> {
    return this.#keeping().next();
  }

  return(value?: unknown): Promise<IteratorResult<unknown>> {
    return this.#keeping().return(value);
  }

  // While a value is awaited the handle must not count as forgotten.
  #keeping(): Consumer {
    this.#consumer.keeper = this;
    return this.#consumer;
  }
}

/**
 * A call to a pool of which no worker is ready yet may turn out to be a stream or not. The caller then gets a promise that
 * can also be iterated: it resolves with the result, or with the stream itself.
 */
export function iterablePromise(promise: Promise<unknown>, stream: StreamHandle): Promise<unknown> & Stream<unknown> {
  for (const name of ["next", "return", "throw", Symbol.asyncIterator, Symbol.asyncDispose] as const) {
    Object.assign(promise, {
      [name]: (value: unknown) => {
        // Whoever iterates hears of a failure there; the promise's own rejection is then nobody's.
        promise.catch(() => {});
        return stream[name](value);
      },
    });
  }
  return promise as Promise<unknown> & Stream<unknown>;
}
