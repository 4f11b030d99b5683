// SPDX-License-Identifier: MIT OR Apache-2.0

import type { MessageCodec } from "../codec/codec.js";
import { Flag, Status } from "../wire/frame.js";
import type { CallOptions } from "./calls.js";
import { nothing, type Received } from "./connection.js";
import type { Core } from "./core.js";
import type { HandlerContext, Served } from "./served.js";
import { stitch } from "./stitch.js";

/** Handles one message. Returns the reply; undefined is an empty reply. */
export type MessageHandler<T, Written> = (
  message: T,
  context: HandlerContext,
) => Written | undefined | Promise<Written | undefined>;

/** A channel of whole messages, each with or without a reply. Either end may send and handle. */
export interface Messages<T, Written = T> {
  readonly name: string;
  /**
   * Sends a message and waits for the reply, which is `undefined` when the handler returned none. Copies the message's lists, or moves
   * the large ones with `move()`.
   *
   * Rejects with what the codec throws; with a {@link RemoteError}; with a ClearwayError: `no-handler`, `dropped`, `queue-full`,
   * `deadline`, `timeout`, `transport-closed`, `too-large`; and with the signal's reason when the signal aborts.
   */
  send(message: Written, options?: CallOptions): Promise<T | undefined>;
  /**
   * Sends a message that has no reply. Settles when the transport has the message, so awaiting each post keeps a sender in step with the
   * transport. Rejects as `send` does.
   */
  post(message: Written): Promise<void>;
  /**
   * Handles the other end's messages, early ones first. Encodes the handler's replies and moves their large lists. Disposing removes the
   * handler; later messages wait for the next one. Throws `invalid-argument` for a second handler.
   */
  handle(handler: MessageHandler<T, Written>): Disposable;
}

export function messagesOf<T, W>(core: Core, name: string, codec: MessageCodec<T, W>): Messages<T, W> {
  const { connection } = core;
  connection.checkName(name);
  const read = (reply: Received): T | undefined =>
    (reply.flags & Flag.empty) !== 0 ? undefined : connection.decode<T>(codec, reply);
  return {
    name,
    send(message, options = {}) {
      try {
        return core.call(name, connection.encode(codec, message, "kept"), options).then(read, stitch);
      } catch (reason) {
        return Promise.reject(reason);
      }
    },
    async post(message) {
      await core.post(name, connection.encode(codec, message, "kept"));
    },
    handle(handler) {
      const answer = (served: Served, value: W | undefined): void => {
        if (value === undefined) return served.answer(Status.done, { ...nothing, flags: Flag.empty });
        served.answer(Status.done, connection.encode(codec, value, "result"));
      };
      return core.router.handle(name, {
        request: (served) =>
          respond(
            () => handler(connection.decode<T>(codec, served.message), served),
            (value) => answer(served, value),
            (error) => served.fail(error),
          ),
      });
    },
  };
}

/**
 * Runs a handler and answers; synchronously when the handler returns its value synchronously. The promise settles when an async handler
 * has ended. Never throws or rejects, provided that `fail` does not throw.
 */
export function respond<T>(
  run: () => T | Promise<T>,
  answer: (value: T) => void,
  fail: (error: unknown) => void,
): Promise<void> | undefined {
  try {
    const value = run();
    if (isPromise(value)) return Promise.resolve(value).then(answer).catch(fail);
    answer(value);
  } catch (error) {
    fail(error);
  }
  return undefined;
}

function isPromise<T>(value: T | Promise<T>): value is Promise<T> {
  return typeof (value as Promise<T> | undefined)?.then === "function";
}
