// SPDX-License-Identifier: MIT OR Apache-2.0
import { callbackKey } from "../transport/callback.js";
import { Session } from "./session.js";

/**
 * A function under `callback()`, or an object under `proxy()`. A pool treats it as a stream argument: it opens a session for each call, and
 * closes it with the call.
 */
export class MarkedFunction implements AsyncIterable<never> {
  /** Tells a callback from a stream. */
  readonly [callbackKey] = true;
  readonly #fn: (...args: unknown[]) => unknown;
  readonly #concurrency: number;
  readonly #methods: readonly string[] | undefined;
  // Structured clone rejects functions. Because of this property, it rejects a MarkedFunction inside another object.
  readonly mustBeAnArgumentItself = (): string => "callback() marks an argument itself, and so does proxy()";

  /** `methods` are the names of an object's methods. The first argument of `fn` is then the index of a name. */
  constructor(fn: (...args: unknown[]) => unknown, concurrency: number, methods?: readonly string[]) {
    this.#fn = fn;
    this.#concurrency = concurrency;
    this.#methods = methods;
  }

  [Symbol.asyncIterator](): Session {
    return new Session(this.#fn, this.#concurrency, this.#methods);
  }
}
