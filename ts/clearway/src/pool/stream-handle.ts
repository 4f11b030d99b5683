// SPDX-License-Identifier: MIT OR Apache-2.0
import { Reader } from "../stream/reader.js";
import type { Stream } from "../task/caller.js";
import { CallStream } from "./call-stream.js";
import type { CallTracker } from "./call-tracker.js";
import { loadLifecycle } from "./parts.js";
import type { PoolCall } from "./pool-call.js";
import { partMissing } from "./worker-failure.js";

/** What the caller holds of a stream. The pool holds it weakly, so that a dropped handle can be noticed. */
export class StreamHandle extends Reader implements Stream<unknown> {
  readonly #stream: CallStream;

  constructor(call: PoolCall, tracker: CallTracker) {
    super();
    this.#stream = call.stream = new CallStream(call, tracker, this);
  }

  next(): Promise<IteratorResult<unknown>> {
    return this.#ask("next");
  }

  return(value?: unknown): Promise<IteratorResult<unknown>> {
    return this.#ask("return", value);
  }

  #ask(what: "next" | "return", value?: unknown): Promise<IteratorResult<unknown>> {
    const stream = this.#stream;
    const { consumer } = stream;
    if (consumer) {
      // While a value is awaited the handle must not count as forgotten.
      consumer.keeper = this;
      return consumer[what](value);
    }
    // No worker is ready yet. What is asked now counts when the call is about to leave: `close()` lets it finish.
    return new Promise((resolve, reject) => {
      stream.later(() => resolve(this.#ask(what, value)));
      loadLifecycle().then(
        (lifecycle) => stream.open(lifecycle),
        (cause) => {
          const why = partMissing(cause);
          stream.end(() => why);
          reject(why);
        },
      );
    });
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
