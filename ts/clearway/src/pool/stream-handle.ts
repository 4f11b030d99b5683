// SPDX-License-Identifier: MIT OR Apache-2.0
import { caused } from "../error/clearway-error.js";
import { Reader } from "../stream/reader.js";
import type { Stream } from "../task/caller.js";
import type { CallDesk } from "./call-desk.js";
import { CallStream } from "./call-stream.js";
import { loadStreams } from "./parts.js";
import type { PoolCall } from "./pool-call.js";

/** What the caller holds of a stream. The pool holds it weakly, so that a dropped handle can be noticed. */
export class StreamHandle extends Reader implements Stream<unknown> {
  readonly #stream: CallStream;

  constructor(call: PoolCall, desk: CallDesk) {
    super();
    this.#stream = call.stream = new CallStream(call, desk, this);
  }

  next(): Promise<IteratorResult<unknown>> {
    return this.#ask("next");
  }

  return(value?: unknown): Promise<IteratorResult<unknown>> {
    return this.#ask("return", value);
  }

  #ask(what: "next" | "return", value?: unknown): Promise<IteratorResult<unknown>> {
    const { consumer } = this.#stream;
    if (consumer) {
      // While a value is awaited the handle must not count as forgotten.
      consumer.keeper = this;
      return consumer[what](value);
    }
    // Who asks before that is loaded asks when it is, in the same order: the first opens the stream for all.
    return loadStreams().then(
      (streams) => {
        this.#stream.open(streams);
        return this.#ask(what, value);
      },
      (cause) => {
        const why = caused("missing-package", "what reads streams could not be loaded", cause);
        this.#stream.end(why);
        throw why;
      },
    );
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
