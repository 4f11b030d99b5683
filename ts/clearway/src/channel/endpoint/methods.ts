// SPDX-License-Identifier: MIT OR Apache-2.0

import { object } from "../../error/checked.js";
import { OwnPromise } from "../../globals.js";
import { checkMethodCodec, encodeWithin, type MethodCodec } from "../codec/codec.js";
import { type ErrorParts, shortened } from "../wire/error-body.js";
import { Status } from "../wire/frame.js";
import type { CallOptions } from "./calls.js";
import type { Connection } from "./connection.js";
import type { Core } from "./core.js";
import { respondWith, stitch } from "./messages.js";
import { noAnswer } from "./outcome.js";
import type { Received } from "./outgoing-value.js";
import type { HandlerContext } from "./served.js";
import { remote } from "./subscriptions.js";

/** A method. It takes the call's arguments, and returns its result or throws. */
export type MethodHandler = (args: never, context: HandlerContext) => unknown;

/** A function that handles all methods returns this value for a method that it does not have. */
export const notImplemented: unique symbol = Symbol("clearway.notImplemented");

/** A channel's methods by name, or one function for all of them. */
export type MethodHandlers =
  | Readonly<Record<string, MethodHandler>>
  | ((method: string, args: unknown, context: HandlerContext) => unknown);

/** A channel of methods. Either end may call and handle. */
export interface Methods {
  readonly name: string;
  /**
   * Calls a method with one value as its arguments. Copies the lists of the arguments, or moves them if the arguments are given
   * with `move()`. Rejects with the errors of `send` of {@link Messages}, and with `not-implemented`. The error of the other
   * end is a {@link RemoteError}. The type `R` is not checked.
   */
  call<R = unknown>(method: string, args?: unknown, options?: CallOptions): Promise<R>;
  /**
   * Handles the other end's calls. Calls that arrived before this handler come first. Encodes results and moves their large
   * lists. `undefined` becomes null. The caller of a missing method receives `not-implemented`. Throws `invalid-argument` if
   * the channel already has a handler.
   */
  handle(handlers: MethodHandlers): Disposable;
}

export function methodsOf(core: Core, name: string, codec: MethodCodec): Methods {
  const { connection } = core;
  connection.checkName(name);
  checkMethodCodec(codec);
  const read = (reply: Received): unknown => {
    const envelope = connection.decode(codec.reply, reply);
    if (envelope.kind === "success") return envelope.value;
    return stitch(envelope.kind === "error" ? remote(envelope, name) : noAnswer(name));
  };
  return {
    name,
    call<R>(method: string, args: unknown = null, options?: CallOptions) {
      try {
        return core.call(name, connection.encodeCall(codec, method, args), options).then(read, stitch) as Promise<R>;
      } catch (reason) {
        return OwnPromise.reject(reason);
      }
    },
    handle(handlers) {
      const run = runner(handlers);
      return core.router.handle(name, {
        request: respondWith<unknown>({
          run: (served) => {
            const { method, args } = connection.decode(codec.call, served.message);
            return run(method, args, served);
          },
          answer: (served, value) => {
            if (value === notImplemented) return served.answer(Status.notImplemented);
            served.answer(Status.done, connection.encodeSuccess(codec, value));
          },
          fail: (served, error) => served.fail(error, (parts) => writeEnvelope(codec, parts, connection)),
        }),
      });
    },
  };
}

type Run = (method: string, args: unknown, context: HandlerContext) => unknown;

function runner(handlers: MethodHandlers): Run {
  if (typeof handlers === "function") return handlers;
  object("handlers", handlers);
  return (method, args, context) => {
    // Only own properties are methods of the channel. Inherited properties are not.
    const own = Object.hasOwn(handlers, method) ? handlers[method] : undefined;
    return typeof own === "function" ? own.call(handlers, args as never, context) : notImplemented;
  };
}

/**
 * Encodes an error as the envelope (the bytes of a reply) of the plain wire. Leaves out details that the codec cannot encode.
 * An error that is too large keeps only the beginning of its code and of its message. Throws the codec's error if the codec
 * cannot encode the code or the message.
 */
export function writeEnvelope(
  codec: MethodCodec,
  { code, message, details, stack }: ErrorParts,
  { settings, bodyBytesMax }: Pick<Connection, "settings" | "bodyBytesMax">,
): Uint8Array {
  const envelope = { kind: "error", code, message, ...(settings.stacks && { stack }) } as const;
  for (const sentDetails of [details, null]) {
    try {
      const body = encodeWithin(codec.reply, { ...envelope, details: sentDetails }, bodyBytesMax);
      if (body.length <= bodyBytesMax) return body;
    } catch {
      // The codec cannot encode the details, or another part of the error. The next attempt leaves out the details.
    }
  }
  const [shortCode, shortMessage] = shortened(code, message, bodyBytesMax);
  return encodeWithin(
    codec.reply,
    { kind: "error", code: shortCode, message: shortMessage, details: null },
    bodyBytesMax,
  );
}
