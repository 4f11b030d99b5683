// SPDX-License-Identifier: MIT OR Apache-2.0
import { tagOf } from "./structure.js";

/** Returns whether a value gives an async iterator, or is a web stream. WebKit's streams are not iterable. */
export function isAsyncIterable(value: object): value is AsyncIterable<unknown, unknown, void> {
  return Symbol.asyncIterator in value || isStream(value);
}

const isStream = (value: object): value is ReadableStream => "getReader" in value && tagOf(value) === "ReadableStream";

/**
 * Returns the method of `source` that gives its async iterator. Reads it once. Returns undefined for other values than async iterables.
 *
 * `return()` of the iterator closes a stream of Node or of the web at once, also while a value is awaited, which may never come. The streams'
 * own iterators wait for that value first, as async generators do.
 */
export function asyncIteratorOf(source: object): (() => AsyncIterator<unknown, unknown, void>) | undefined {
  const {
    [Symbol.asyncIterator]: method,
    getReader,
    destroy,
    on,
    pipe,
  } = source as Partial<AsyncIterable<unknown, unknown, void> & StreamMethods>;
  if (typeof getReader === "function") return () => readWebStream(getReader.call(source));
  if (hasProcesses && typeof destroy === "function" && typeof pipe === "function" && method)
    return () => {
      // Its iterator listens for errors only from the first `next()` on. An earlier error would end the process; that `next()` reports it, too.
      on?.call(source, "error", Boolean);
      return readNodeStream(method.call(source), () => destroy.call(source));
    };
  return method;
}

/** The methods by which streams are known: that of the web's, and two of Node's. Node's also have `on`. */
interface StreamMethods {
  getReader(): ReadableStreamDefaultReader<unknown>;
  destroy(): unknown;
  on(event: "error", listener: (reason: unknown) => void): unknown;
  pipe: unknown;
}

function readNodeStream(iterator: AsyncIterator<unknown, unknown, void>, destroy: () => unknown): typeof iterator {
  return {
    next: () => iterator.next(),
    return: async (value) => {
      const ended = (async () => iterator.return?.())();
      ended.catch(Boolean); // `destroy` may throw, too.
      destroy();
      return (await ended) ?? { done: true, value };
    },
  };
}

/** Reads a web stream. Like the stream's own iterator, unlocks the stream at its end. */
function readWebStream(reader: ReadableStreamDefaultReader<unknown>): AsyncIterator<unknown, unknown, void> {
  return {
    next: async () => {
      let over = true;
      try {
        const step = await reader.read();
        over = step.done;
        return step as IteratorResult<unknown>;
      } finally {
        if (over) reader.releaseLock();
      }
    },
    return: async (value) => {
      try {
        await reader.cancel();
      } finally {
        reader.releaseLock();
      }
      return { done: true, value };
    },
  };
}
