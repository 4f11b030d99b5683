// SPDX-License-Identifier: MIT OR Apache-2.0
import type { StandardMessageCodec } from "clearway/channel";
import { asyncIteratorOf, errorToPlain, unmoved } from "clearway/remote";
import { Outgoing } from "../stream/outgoing.js";
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
    const abort = (reason: unknown): void => send(codec.encode([Op.abort, index, errorToPlain(reason)]));
    this.outgoing = new Outgoing(index, source, {
      codec,
      send,
      drained,
      ended: (value) => {
        this.#closed = true;
        send(codec.encode([Op.end, index, encodable(codec, value)]));
      },
      failed: (reason) => {
        abort(reason);
        this.stop(); // a value could not be sent, so the iterator is still open
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

// Returns the return value of an iterator, or null for one that cannot be sent. A `for await` ignores it, so it must not fail the stream.
function encodable(codec: StandardMessageCodec, value: unknown): unknown {
  try {
    codec.encode(value);
    return value;
  } catch {
    return null;
  }
}

/**
 * Takes the streams out of the arguments of a call: returns the arguments with null in their places, and opens the iterators. Unwraps values
 * under `move()`. Copies the list before changing it. Throws what an iterable throws.
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
