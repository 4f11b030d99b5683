// SPDX-License-Identifier: MIT OR Apache-2.0

import type { MessageCodec } from "../codec/codec.js";
import { Flag, Status } from "../wire/frame.js";
import type { CallOptions } from "./calls.js";
import type { Core } from "./core.js";
import { nothing, type Received } from "./link.js";
import type { HandlerContext, Served } from "./served.js";
import { stitch } from "./stitch.js";

/** What a handler of messages gives back: the reply, or nothing, which is an empty reply. */
export type MessageHandler<T, Written> = (
  message: T,
  context: HandlerContext,
) => Written | undefined | Promise<Written | undefined>;

/** A channel of whole messages, each with a reply if one is wanted. Either end may send and handle. */
export interface Messages<T, Written = T> {
  readonly name: string;
  /**
   * Sends a message and waits for the reply; `undefined` where the handler gave none. Copies what the message holds, or moves its
   * large lists under `move()`. Rejects with what the codec throws, a {@link RemoteError}, or a ClearwayError: `no-handler`,
   * `dropped`, `queue-full`, `deadline`, `timeout`, `transport-closed`, `too-large`; with the signal's reason when that aborts.
   */
  send(message: Written, options?: CallOptions): Promise<T | undefined>;
  /**
   * Sends a message that wants no reply. Settles when it has left for the transport: whoever awaits that never runs ahead of
   * it. Rejects as `send` does.
   */
  post(message: Written): Promise<void>;
  /**
   * Handles the other end's messages, those that came early first. What the handler gives is encoded and its large lists moved.
   * Disposing ends it; later messages wait for the next handler. Throws `invalid-argument` for a second one.
   */
  handle(handler: MessageHandler<T, Written>): Disposable;
}

export function messagesOf<T, W>(core: Core, name: string, codec: MessageCodec<T, W>): Messages<T, W> {
  const { link } = core;
  link.checkName(name);
  const read = (reply: Received): T | undefined =>
    (reply.flags & Flag.empty) !== 0 ? undefined : link.decode<T>(codec, reply);
  return {
    name,
    send(message, options = {}) {
      try {
        return core.call(name, link.encode(codec, message, "kept"), options).then(read, stitch);
      } catch (reason) {
        return Promise.reject(reason);
      }
    },
    async post(message) {
      await core.post(name, link.encode(codec, message, "kept"));
    },
    handle(handler) {
      const answer = (served: Served, value: W | undefined): void => {
        if (value === undefined) return served.answer(Status.done, { ...nothing, flags: Flag.empty });
        served.answer(Status.done, link.encode(codec, value, "result"));
      };
      return core.router.handle(name, {
        request: (served) =>
          respond(
            () => handler(link.decode<T>(codec, served.message), served),
            (value) => answer(served, value),
            (error) => served.fail(error),
          ),
      });
    },
  };
}

/**
 * Runs a handler and answers, at once where it has its value at once. What it returns settles when an async handler has ended.
 * Never throws or rejects, as `fail` does not.
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
