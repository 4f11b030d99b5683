// SPDX-License-Identifier: MIT OR Apache-2.0
import type { StandardMessageCodec } from "clearway/channel";
import { asyncIteratorOf, invalid, unmoved } from "clearway/remote";
import { Outgoing } from "../stream/outgoing.js";
import { encodeError } from "../wire/call.js";
import { Op } from "../wire/protocol.js";

/** What an {@link Upload} needs of its call. */
export interface UploadWire {
  readonly codec: StandardMessageCodec;
  /** Sends a message to the call's worker. */
  send(bytes: Uint8Array): void;
  /** Returns a promise while the network is slower than what is sent. It never rejects. */
  drained(): Promise<void> | undefined;
}

/** A stream that the caller passes as an argument. Reads nothing before the task reads. */
export class Upload {
  readonly outgoing: Outgoing;
  readonly #iterator: AsyncIterator<unknown, unknown, void>;
  #closed = false;

  constructor(index: number, iterator: AsyncIterator<unknown, unknown, void>, { codec, send, drained }: UploadWire) {
    this.#iterator = iterator;
    const source = {
      // The iterator is code of the app. A result that is no object makes the read of `done` throw, which ends the stream with that error.
      async next(): Promise<IteratorResult<unknown[]>> {
        const { done, value } = await iterator.next();
        return done ? { done, value } : { done: false, value: [value] };
      },
    };
    this.outgoing = new Outgoing(index, source, {
      codec,
      send,
      drained,
      ended: (value) => {
        this.#closed = true;
        send(endOf(codec, index, value));
      },
      failed: (reason) => {
        this.stop(); // a value could not be sent, so the iterator is still open
        send(encodeError(codec, [Op.abort, index], reason));
      },
    });
  }

  /** Closes the source, because the call is over. */
  stop(): void {
    this.outgoing.stop();
    if (this.#closed) return;
    this.#closed = true;
    close(this.#iterator);
  }
}

// Encodes the end of a stream, with the return value of the iterator, or with null for one that cannot be sent. A `for await` ignores it, so it
// must not fail the stream.
function endOf(codec: StandardMessageCodec, index: number, value: unknown): Uint8Array {
  try {
    return codec.encode([Op.end, index, value]);
  } catch {
    return codec.encode([Op.end, index, null]);
  }
}

// The key of a function under `callback()`, and of an object under `proxy()`. To a reader, they are empty streams.
const callbackKey = Symbol.for("clearway.callback");

/**
 * Takes the streams out of the arguments of a call: returns the arguments with null in their places, and opens the iterators. Unwraps values
 * under `move()`. Copies the list before changing it. Throws `invalid-argument` for a callback, and what an iterable throws.
 */
export function takeStreams(args: readonly unknown[]): {
  args: readonly unknown[];
  inputs: { index: number; iterator: AsyncIterator<unknown, unknown, void> }[] | undefined;
} {
  let plain: unknown[] | undefined;
  let inputs: { index: number; iterator: AsyncIterator<unknown, unknown, void> }[] | undefined;
  try {
    for (let index = 0; index < args.length; index++) {
      const value = args[index];
      if (value === null || typeof value !== "object") continue;
      const inner = unmoved(value);
      const iterate = inner === value ? asyncIteratorOf(value) : undefined;
      if (inner === value && !iterate) continue;
      if (callbackKey in value)
        throw invalid(`args[${index}]`, "a value or a stream: a callback() or a proxy() needs a local pool", value);
      plain ??= args.slice();
      plain[index] = iterate ? null : inner;
      if (!iterate) continue;
      inputs ??= [];
      inputs.push({ index, iterator: iterate.call(value) });
    }
  } catch (reason) {
    for (const { iterator } of inputs ?? []) close(iterator);
    throw reason;
  }
  return { args: plain ?? args, inputs };
}

// Closes an iterator, which is code of the app: it may throw, and hang.
function close(iterator: AsyncIterator<unknown, unknown, void>): void {
  void (async () => iterator.return?.())().catch(() => {});
}
