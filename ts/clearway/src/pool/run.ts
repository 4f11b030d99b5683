// SPDX-License-Identifier: MIT OR Apache-2.0
import { Reader } from "../stream/reader.js";
import type { Callers, Stream } from "../task/caller.js";
import type { CallOptions, PoolOptions } from "./options.js";
import { type Callable, callers, type Pool, pool } from "./pool.js";
import type { WorkerSource } from "./slot.js";
import { iterablePromise, StreamHandle } from "./stream-handle.js";

/** What a one-shot may be told: what a call may, and what concerns its one worker. */
export interface RunOptions
  extends CallOptions,
    Pick<PoolOptions, "resourceLimits" | "graceMs" | "startTimeoutMs" | "name"> {}

/**
 * Runs a single task in a fresh worker, which is ended afterwards: `await run<typeof import("./x.tasks.js")>(url).call.job(1)`.
 * Each call starts a worker of its own (about 15 ms in Node, 10 in Chromium); for more than one call, make a pool.
 */
export function run<Module>(source: WorkerSource, options: RunOptions = {}): Callable<Module> {
  const { resourceLimits, graceMs, startTimeoutMs, name = "run", ...callOptions } = options;
  const poolOptions = { size: 1, resourceLimits, graceMs, startTimeoutMs, name } as PoolOptions;
  const call = callers((task) => (...args) => {
    const once = pool<Record<string, (...args: unknown[]) => unknown>>(source, poolOptions);
    const caller = once.with(callOptions).call[task] as (...args: unknown[]) => Promise<unknown> & Stream<unknown>;
    const answer = caller(...args);
    const stream = new EndingStream(answer, once);
    return iterablePromise(endAfter(once, answer, stream), stream);
  });
  return { call: call as Callers<Module> };
}

// A fresh pool's call is a promise that may turn out to give a stream: the worker ends when the result is there, or when
// the stream is over.
async function endAfter(once: Pool<unknown>, answer: Promise<unknown>, stream: Reader): Promise<unknown> {
  let value: unknown;
  try {
    value = await answer;
    return value instanceof StreamHandle ? stream : value;
  } finally {
    if (!(value instanceof StreamHandle)) await once.close();
  }
}

// The same stream, but its worker has ended by the time that its end is told. Not an async generator: ended before its
// first value, such a one would never run its `finally`.
class EndingStream extends Reader {
  readonly #stream: Stream<unknown>;
  readonly #once: Pool<unknown>;

  constructor(stream: Stream<unknown>, once: Pool<unknown>) {
    super();
    this.#stream = stream;
    this.#once = once;
  }

  next(): Promise<IteratorResult<unknown>> {
    return this.#follow(this.#stream.next());
  }

  return(value?: unknown): Promise<IteratorResult<unknown>> {
    return this.#follow(this.#stream.return(value));
  }

  async #follow(step: Promise<IteratorResult<unknown>>): Promise<IteratorResult<unknown>> {
    let over = true;
    try {
      const result = await step;
      over = result.done === true;
      return result;
    } finally {
      if (over) await this.#once.close();
    }
  }
}
