// SPDX-License-Identifier: MIT OR Apache-2.0

import { callable } from "../../error/checked.js";
import { isAsyncIterable } from "../../host/async-iterable.js";
import { checkMethodCodec, type MethodCodec } from "../codec/codec.js";
import { Status } from "../wire/frame.js";
import type { Core } from "./core.js";
import type { EventStream } from "./event-stream.js";
import { type ListenOptions, type ServeOptions, serveSettings } from "./listen-options.js";
import { noAnswer } from "./outcome.js";
import type { Encoded, Received } from "./outgoing-value.js";
import { plainSource } from "./plain-publisher.js";
import type { EventSink, Source } from "./source.js";
import { remote } from "./subscriptions.js";

/** The result of a source of events: an iterable of events. A source that pushes events through the sink returns nothing. */
export type EventSource<T> =
  // biome-ignore lint/suspicious/noConfusingVoidType: a source that gives back nothing is a function without a return
  AsyncIterable<T> | Iterable<T> | void | Promise<AsyncIterable<T> | Iterable<T> | void>;

/** A channel of events. Either end may listen and serve. */
export interface Events {
  readonly name: string;
  /**
   * Listens to the channel. The other end starts a stream with the arguments, and never sends more than the window allows.
   * `break` ends the stream at the other end too. Each `listen` starts a stream of its own, with its own window. On the
   * plain wire, a second one on a channel ends the first stream, which rejects with `cancelled`.
   *
   * Reading rejects with the errors of a method's call. After one rejection, the stream is at its end. Throws
   * `invalid-argument`, and the codec's error for arguments that the codec cannot encode.
   */
  listen<T = unknown>(args?: unknown, options?: ListenOptions): EventStream<T>;
  /**
   * Serves the channel's events. Calls `open` for each listener.
   *
   * The next value of an iterable is requested only when the value can leave at once: the listener has given credit, no event
   * waits, and the transport is not congested. Values of an iterable are therefore never dropped. Events that are pushed
   * through the sink wait in a queue of up to `capacity` events. `whenFull` is the policy of a full queue. The stream ends when
   * the iterable or the async function ends. Events are encoded when they are sent, and their large lists are moved.
   *
   * Throws `invalid-argument` if the channel already has a handler.
   */
  serve<T = unknown, A = unknown>(
    open: (args: A, sink: EventSink<T>) => EventSource<T>,
    options?: ServeOptions,
  ): Disposable;
}

export function eventsOf(core: Core, name: string, codec: MethodCodec): Events {
  const { connection } = core;
  connection.checkName(name);
  checkMethodCodec(codec);
  const read = (message: Received): unknown => {
    const envelope = connection.decode(codec.reply, message);
    if (envelope.kind === "success") return envelope.value;
    throw envelope.kind === "error" ? remote(envelope, name) : noAnswer(name);
  };
  const encode = (event: unknown): Encoded => connection.encodeSuccess(codec, event);
  return {
    name,
    listen<T>(args: unknown = null, options?: ListenOptions) {
      if (connection.wire === "plain") return core.plainListens.listen(name, codec, args, options) as EventStream<T>;
      const message = connection.encodeCall(codec, "listen", args);
      return core.subscriptions.listen(connection.name(name), name, message, read, options) as EventStream<T>;
    },
    serve<T, A>(open: (args: A, sink: EventSink<T>) => EventSource<T>, options: ServeOptions = {}) {
      callable("open", open);
      const limits = serveSettings(options);
      const begin = (source: Source, args: unknown): Promise<void> | undefined => {
        try {
          return drive(source, open(args as A, source as EventSink<T>));
        } catch (error) {
          source.fail(error);
          return undefined;
        }
      };
      if (connection.wire === "plain")
        return core.router.handle(name, plainSource(core, { name, codec, limits, encode, begin }));
      return core.router.handle(name, {
        request(served) {
          served.answer(Status.notImplemented);
          return undefined;
        },
        listen: (requested) =>
          requested.serve({
            limits,
            encode,
            begin(source, message) {
              let args: unknown;
              try {
                args = connection.decode(codec.call, message).args;
              } catch (error) {
                source.fail(error);
                return undefined;
              }
              return begin(source, args);
            },
          }),
      });
    },
  };
}

/**
 * Sends the events that a source returned. Returns a promise that settles when all code of the source has ended. Returns
 * undefined if the source returned nothing.
 */
function drive<T>(source: Source, given: EventSource<T>): Promise<void> | undefined {
  if (given === undefined || given === null) return undefined;
  if (isIterable(given)) return source.pump(given);
  return awaited(source, given as Promise<AsyncIterable<T> | Iterable<T> | undefined>);
}

async function awaited<T>(source: Source, given: Promise<AsyncIterable<T> | Iterable<T> | undefined>): Promise<void> {
  try {
    const events = await given;
    if (events && isIterable(events)) return await source.pump(events);
    source.end();
  } catch (error) {
    source.fail(error);
  }
}

function isIterable(value: object): value is AsyncIterable<unknown> | Iterable<unknown> {
  return isAsyncIterable(value) || Symbol.iterator in value;
}
