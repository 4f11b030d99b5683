// SPDX-License-Identifier: MIT OR Apache-2.0

import { callable } from "../../error/checked.js";
import { checkMessageCodec, type MessageCodec } from "../codec/codec.js";
import { Flag, Status } from "../wire/frame.js";
import type { CallOptions } from "./calls.js";
import { nothing, type Received } from "./connection.js";
import type { Core } from "./core.js";
import type { HandlerContext, Served } from "./served.js";
import { stitch } from "./stitch.js";

/** Handles one message and returns the reply. `undefined` becomes an empty reply. */
export type MessageHandler<T, Written> = (
  message: T,
  context: HandlerContext,
) => Written | undefined | Promise<Written | undefined>;

/** A channel of whole messages, each with or without a reply. Either end may send and handle. */
export interface Messages<T, Written = T> {
  readonly name: string;
  /**
   * Sends a message and waits for the reply. The reply is `undefined` if the handler returned none. Copies the message's lists,
   * or moves them if the message is given with `move()`. Rejects with:
   *
   * - the codec's error, for a message or a reply that the codec refuses;
   * - a {@link RemoteError}, if the handler threw;
   * - a `ClearwayError`: `no-handler`, `dropped`, `queue-full`, `deadline`, `timeout`, `transport-closed` or `too-large`;
   * - the signal's reason, if the signal aborts.
   */
  send(message: Written, options?: CallOptions): Promise<T | undefined>;
  /**
   * Sends a message that has no reply. Settles when the transport has taken the message. A sender that awaits each post
   * therefore sends no faster than the transport carries. Rejects like `send`.
   */
  post(message: Written): Promise<void>;
  /**
   * Handles the other end's messages. Messages that arrived before this handler come first. Encodes the handler's replies and
   * moves their large lists. Disposing the result removes the handler; later messages wait for the next handler. Throws
   * `invalid-argument` if the channel already has a handler.
   */
  handle(handler: MessageHandler<T, Written>): Disposable;
}

export function messagesOf<T, W>(core: Core, name: string, codec: MessageCodec<T, W>): Messages<T, W> {
  const { connection } = core;
  connection.checkName(name);
  checkMessageCodec(codec);
  const read = (reply: Received): T | undefined =>
    (reply.flags & Flag.empty) !== 0 ? undefined : connection.decode<T>(codec, reply);
  return {
    name,
    send(message, options) {
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
      callable("handler", handler);
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
 * Runs a handler and answers. Answers synchronously if the handler returns its value synchronously. Returns a promise that
 * settles when an async handler has ended. Never throws or rejects, provided that `fail` does not throw.
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
