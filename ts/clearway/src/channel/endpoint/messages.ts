// SPDX-License-Identifier: MIT OR Apache-2.0

import { callable } from "../../error/checked.js";
import { calledFrom, define, stackAbove } from "../../error/clearway-error.js";
import { OwnPromise } from "../../globals.js";
import { checkMessageCodec, type MessageCodec } from "../codec/codec.js";
import { Flag, Status } from "../wire/frame.js";
import type { CallOptions } from "./calls.js";
import { nothing } from "./connection.js";
import type { Core } from "./core.js";
import { RemoteError } from "./outcome.js";
import type { Encoded, Received } from "./outgoing-value.js";
import type { HandlerContext, Served } from "./served.js";

/**
 * Appends the stack of the code that awaits a call to the stack of the other end's error. A rejection handler; always throws. Only failed
 * calls have this cost: V8 finds the awaiting code when the promise is rejected
 * (spec/decisions/the-callers-stack-is-taken-when-a-call-fails.md).
 */
export function stitch(error: unknown): never {
  if (!(error instanceof RemoteError)) throw error;
  const frames = stackAbove(stitch);
  if (frames) define(error, "stack", (error.stack ?? "") + calledFrom(frames));
  throw error;
}

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
   * therefore sends no faster than the transport carries. Rejects like `send`, but a rejection because the connection ended or
   * its queue is full is never an unhandled one.
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
  const noReply: Encoded = { ...nothing, flags: Flag.empty };
  const read = (reply: Received): T | undefined =>
    (reply.flags & Flag.empty) !== 0 ? undefined : connection.decode<T>(codec, reply);
  return {
    name,
    send(message, options) {
      try {
        return core.call(name, connection.encode(codec, message, "kept"), options).then(read, stitch);
      } catch (reason) {
        return OwnPromise.reject(reason);
      }
    },
    post(message) {
      try {
        return core.post(name, connection.encode(codec, message, "kept"));
      } catch (reason) {
        return OwnPromise.reject(reason);
      }
    },
    handle(handler) {
      callable("handler", handler);
      return core.router.handle(name, {
        request: respondWith<W | undefined>({
          run: (served) => handler(connection.decode<T>(codec, served.message), served),
          answer: (served, value) =>
            served.answer(Status.done, value === undefined ? noReply : connection.encode(codec, value, "result")),
          fail: (served, error) => served.fail(error),
        }),
      });
    },
  };
}

/** Code that handles the requests of a channel, and answers them. `fail` never throws. */
interface Responder<T> {
  run(served: Served): T | Promise<T>;
  answer(served: Served, value: T): void;
  fail(served: Served, error: unknown): void;
}

/**
 * Returns a function that runs the handler of a request and answers. It answers synchronously if the handler returns its value
 * synchronously. It returns a promise that settles when an async handler has ended. It never throws or rejects.
 */
export function respondWith<T>({ run, answer, fail }: Responder<T>): (served: Served) => Promise<void> | undefined {
  return (served) => {
    try {
      const value = run(served);
      if (isPromise(value))
        return OwnPromise.resolve(value)
          .then((each) => answer(served, each))
          .catch((error) => fail(served, error));
      answer(served, value);
    } catch (error) {
      fail(served, error);
    }
    return undefined;
  };
}

function isPromise<T>(value: T | Promise<T>): value is Promise<T> {
  return typeof (value as Promise<T> | undefined)?.then === "function";
}
