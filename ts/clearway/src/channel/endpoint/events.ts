// SPDX-License-Identifier: MIT OR Apache-2.0
import { callable, isThenable } from "../../error/checked.js";
import { ClearwayError } from "../../error/clearway-error.js";
import { isAsyncIterable } from "../../host/async-iterable.js";
import { checkMethodCodec, type MethodCodec } from "../codec/codec.js";
import { Op, Status } from "../wire/frame.js";
import { nothing } from "./connection.js";
import type { Core } from "./core.js";
import type { EventStream } from "./event-stream.js";
import { writeEnvelope } from "./methods.js";
import { type ListenOptions, type ServeOptions, serveSettings } from "./options.js";
import { noAnswer } from "./outcome.js";
import type { Encoded, Received } from "./outgoing-value.js";
import type { Handler } from "./request-router.js";
import type { Served } from "./served.js";
import { type EventSink, Source } from "./source.js";
import type { QueueLimits } from "./source-queue.js";
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
   * The next value of an iterable is requested only when the listener has given credit, no event waits, and the transport has had
   * room since the last value. Values of an iterable are therefore never dropped. Events that are pushed
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
 * undefined if the source returned nothing of use: an arrow function often returns a number or a timer by accident.
 */
function drive<T>(source: Source, given: EventSource<T>): Promise<void> | undefined {
  if (isIterable(given)) return source.pump(given);
  return isThenable(given) ? awaited(source, given) : undefined;
}

async function awaited(source: Source, given: PromiseLike<unknown>): Promise<void> {
  try {
    const events = await given;
    if (isIterable(events)) return await source.pump(events);
    source.end();
  } catch (error) {
    source.fail(error);
  }
}

function isIterable(value: unknown): value is AsyncIterable<unknown> | Iterable<unknown> {
  return typeof value === "object" && value !== null && (isAsyncIterable(value) || Symbol.iterator in value);
}

/** Limits and functions to serve a channel's events. */
interface PlainServing {
  readonly name: string;
  readonly codec: MethodCodec;
  readonly limits: QueueLimits;
  encode(event: unknown): Encoded;
  begin(source: Source, args: unknown): Promise<void> | undefined;
}

/**
 * Returns a handler that serves events to an end that is not Clearway's (spec/wire.md). `listen` and `cancel` are methods, and
 * each channel has one stream. There is no credit. Events are queued while the transport is congested.
 */
function plainSource(core: Core, { name, codec, limits, encode, begin }: PlainServing): Handler {
  const { connection } = core;
  const done = connection.encodeSuccess(codec, null);
  let active: Source | undefined;

  const envelope = (error: unknown): Uint8Array | undefined => {
    try {
      return writeEnvelope(codec, connection.errorParts(error, name), connection);
    } catch (thrown) {
      connection.report(thrown, name);
      return undefined;
    }
  };

  const open = (channel: Uint8Array, args: unknown): void => {
    const source: Source = new Source(
      name,
      limits,
      {
        encode,
        event: (message) => connection.send({ op: Op.message, name: channel }, message),
        end: (status, error) => {
          if (status === Status.error) {
            const body = envelope(error);
            if (body) connection.control({ op: Op.message, name: channel }, { ...nothing, body });
          }
          connection.control({ op: Op.message, name: channel });
        },
        report: (error) => connection.report(error, name),
        budget: connection.queued,
        congested: () => connection.congested,
      },
      () => {
        core.plainSources.delete(source);
        if (active === source) active = undefined;
      },
    );
    source.queue.credit.grant(Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY);
    core.plainSources.add(source);
    active = source;
    const running = begin(source, args);
    if (running === undefined) return;
    core.plainRunning.add(source);
    void running.then(() => core.plainRunning.delete(source));
  };

  const answer = (served: Served): void => {
    const { method, args } = connection.decode(codec.call, served.message);
    if (method === "listen" && core.plainRunning.size >= connection.settings.callsMax) served.answer(Status.busy);
    else if (method === "listen") {
      active?.cancel(new ClearwayError("cancelled", `${name}: a second listen took this one's place`));
      const channel = connection.name(name);
      // The answer must leave before the first event, because it announces that events may follow.
      served.answer(Status.done, done);
      open(channel, args);
    } else if (method === "cancel") {
      if (active === undefined) {
        const none = { code: "error", message: "No active stream to cancel", details: null, stack: "" };
        const body = writeEnvelope(codec, none, connection);
        return served.answer(Status.done, { ...nothing, body });
      }
      active.cancel(new ClearwayError("cancelled", "the listener has cancelled"));
      served.answer(Status.done, done);
    } else served.answer(Status.notImplemented);
  };

  return {
    request(served) {
      try {
        answer(served);
      } catch (error) {
        served.fail(error, (parts) => writeEnvelope(codec, parts, connection));
      }
      return undefined;
    },
  };
}
