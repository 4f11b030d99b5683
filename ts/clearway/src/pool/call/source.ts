// SPDX-License-Identifier: MIT OR Apache-2.0

/** The iterator of a stream argument, and how to close its source although a value is awaited. */
export interface OpenSource {
  readonly iterator: AsyncIterator<unknown, unknown, void>;
  /** Closes the source now, and settles a pending `next()`. Undefined if only the iterator's `return` can close it. May throw. */
  readonly close: (() => unknown) | undefined;
}

/**
 * Opens a stream argument.
 *
 * An iterator's `return` waits for a pending `next`, which never settles while a source is idle. Streams of Node and of the web can be closed
 * meanwhile; an async generator that awaits a value cannot.
 */
export function openSource(source: AsyncIterable<unknown, unknown, void>): OpenSource {
  const { destroy, pipe, getReader } = source as {
    destroy?: () => unknown;
    pipe?: unknown;
    getReader?: () => ReadableStreamDefaultReader<unknown>;
  };
  if (typeof destroy === "function" && typeof pipe === "function")
    return { iterator: source[Symbol.asyncIterator](), close: () => destroy.call(source) };
  if (typeof getReader === "function") return ofReader(getReader.call(source));
  return { iterator: source[Symbol.asyncIterator](), close: undefined };
}

// Like the stream's own iterator, unlocks the stream at its end.
function ofReader(reader: ReadableStreamDefaultReader<unknown>): OpenSource {
  const close = async (): Promise<void> => {
    try {
      await reader.cancel();
    } finally {
      reader.releaseLock();
    }
  };
  const next = async (): Promise<IteratorResult<unknown>> => {
    try {
      const { done, value } = await reader.read();
      if (done) reader.releaseLock();
      return { done, value };
    } catch (reason) {
      reader.releaseLock();
      throw reason;
    }
  };
  const end = async (value?: unknown): Promise<IteratorResult<unknown>> => {
    await close();
    return { done: true, value };
  };
  return { iterator: { next, return: end }, close };
}
