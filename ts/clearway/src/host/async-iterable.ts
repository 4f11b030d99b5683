// SPDX-License-Identifier: MIT OR Apache-2.0
import { tagOf } from "./tag.js";

/** The iterator of a web stream, and how to close the stream although a value is awaited. */
interface StreamIterator {
  readonly iterator: AsyncIterator<unknown, unknown, void>;
  /** Closes the stream now, and settles a pending `next()`. */
  close(): Promise<void>;
}

/** Returns whether a value gives an async iterator, or is a web stream. WebKit's streams are not iterable. */
export function isAsyncIterable(value: object): value is AsyncIterable<unknown, unknown, void> {
  return Symbol.asyncIterator in value || isStream(value);
}

const isStream = (value: object): value is ReadableStream => "getReader" in value && tagOf(value) === "ReadableStream";

/** Returns the method of `source` that gives its async iterator. Reads it once. Returns undefined for other values than async iterables. */
export function asyncIteratorOf(source: object): (() => AsyncIterator<unknown, unknown, void>) | undefined {
  const { [Symbol.asyncIterator]: method } = source as Partial<AsyncIterable<unknown, unknown, void>>;
  return method ?? (isStream(source) ? () => readStream(source.getReader()).iterator : undefined);
}

/** Reads a web stream. Like the stream's own iterator, unlocks the stream at its end. */
export function readStream(reader: ReadableStreamDefaultReader<unknown>): StreamIterator {
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
