// SPDX-License-Identifier: MIT OR Apache-2.0

import { object } from "../../error/checked.js";
import { invalid } from "../../error/clearway-error.js";
import { asyncDispose, dispose } from "../../globals.js";
import { asyncIteratorOf, isAsyncIterable } from "../../host/async-iterable.js";
import type { Moved } from "../../transfer/move.js";
import { standardMethodCodec } from "../codec/standard.js";
import type { CallOptions } from "../endpoint/calls.js";
import type { Endpoint } from "../endpoint/endpoint.js";
import type { EventStream } from "../endpoint/event-stream.js";
import type { EventSource } from "../endpoint/events.js";
import type { MethodHandler } from "../endpoint/methods.js";
import type { ListenOptions, ServeOptions } from "../endpoint/options.js";
import type { HandlerContext } from "../endpoint/served.js";
import type { EventSink } from "../endpoint/source.js";
import { type ReadOf, readSchema, type SchemaData, type SchemaShape, type TypeShape, type WriteOf } from "./schema.js";
import { type Validated, Validators, validated } from "./validator.js";

// Types that the compiler infers from a schema.

type Part<S, Name extends string> = S extends { readonly [Key in Name]: infer Value } ? Value : unknown;
type Types<S> = Part<S, "types">;
type MethodNames<S> = keyof Part<S, "methods">;
type EventNames<S> = keyof Part<S, "events">;
type Method<S, Name> = Name extends MethodNames<S> ? Part<S, "methods">[Name] : never;
type Event<S, Name> = Name extends EventNames<S> ? Part<S, "events">[Name] : never;
/** The type that a part of a declaration has. A missing part has the type null. */
type In<Declared, Name extends string> = Declared extends { readonly [Key in Name]: infer Value } ? Value : "null";

type Read<S, Declared, Name extends string> = ReadOf<In<Declared, Name>, Types<S>>;
type Write<S, Declared, Name extends string> = WriteOf<In<Declared, Name>, Types<S>>;
type Movable<T> = T | Moved<T>;
/** The type of a value that the program gives. If the value can be null, the program may omit it. */
type Given<T> = undefined extends T ? Movable<T> | undefined : Movable<T>;
// biome-ignore lint/suspicious/noConfusingVoidType: the return of a function that gives nothing
type Returned<T> = undefined extends T ? Given<T> | void : Given<T>;

type Function<Args, Options, Result> = undefined extends Args
  ? (args?: Args, options?: Options) => Result
  : (args: Args, options?: Options) => Result;

/** Functions that call a schema's methods, by name. */
export type Callers<S> = {
  readonly [Name in MethodNames<S>]: Function<
    Given<Write<S, Method<S, Name>, "args">>,
    CallOptions,
    Promise<Read<S, Method<S, Name>, "result">>
  >;
};

/** Functions that listen to a schema's events, by name. */
export type Listeners<S> = {
  readonly [Name in EventNames<S>]: Function<
    Given<Write<S, Event<S, Name>, "args">>,
    ListenOptions,
    EventStream<Read<S, Event<S, Name>, "value">>
  >;
};

/** A handler for each of a schema's methods. */
export type MethodsOf<S> = {
  readonly [Name in MethodNames<S>]: (
    args: Read<S, Method<S, Name>, "args">,
    context: HandlerContext,
  ) => Returned<Write<S, Method<S, Name>, "result">> | Promise<Returned<Write<S, Method<S, Name>, "result">>>;
};

/** A source for each of a schema's events. */
export type SourcesOf<S> = {
  readonly [Name in EventNames<S>]: (
    args: Read<S, Event<S, Name>, "args">,
    sink: EventSink<Movable<Write<S, Event<S, Name>, "value">>>,
  ) => EventSource<Movable<Write<S, Event<S, Name>, "value">>>;
};

/** A schema's handlers: `methods` if the schema has methods, and `events` if it has events. */
export type HandlersOf<S> = (S extends { readonly methods: object }
  ? { readonly methods: MethodsOf<S> }
  : { readonly methods?: Record<string, never> }) &
  (S extends { readonly events: object }
    ? { readonly events: SourcesOf<S> }
    : { readonly events?: Record<string, never> });

/** Returns a stream that validates each event when the event is read. An invalid event ends the stream at both ends. */
function checkedStream(stream: EventStream<unknown>, validate: Validated): EventStream<unknown> {
  return {
    get dropped() {
      return stream.dropped;
    },
    async next() {
      const step = await stream.next();
      if (step.done) return step;
      try {
        return { done: false, value: validate(step.value) };
      } catch (error) {
        await stream.return?.();
        throw error;
      }
    },
    async return() {
      await stream.return?.();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
    [asyncDispose]: () => stream[asyncDispose](),
  };
}

/** Returns a sink that validates each event before it sends the event. */
function checkedSink(sink: EventSink, validate: Validated): EventSink {
  return {
    channel: sink.channel,
    get signal() {
      return sink.signal;
    },
    // An async function, so that an invalid event rejects the promise, like a full queue under the policy "fail".
    send: async (event) => sink.send(validate(event)),
    end: () => sink.end(),
    fail: (error) => sink.fail(error),
  };
}

/** Returns a source that validates each event when the event is read. */
function checkedSource(source: unknown, validate: Validated): EventSource<unknown> {
  if (source === undefined || source === null) return undefined;
  if (isIterable(source)) return checkedEvents(source, validate);
  return (async () => {
    const given = await source;
    return isIterable(given) ? checkedEvents(given, validate) : undefined;
  })();
}

// No generator: the `return` of a generator waits for the value that its `next` awaits, which may never come.
function checkedEvents(
  events: AsyncIterable<unknown> | Iterable<unknown>,
  validate: Validated,
): AsyncIterable<unknown> {
  return {
    [Symbol.asyncIterator]() {
      const iterator = asyncIteratorOf(events)?.call(events) ?? (events as Iterable<unknown>)[Symbol.iterator]();
      return {
        async next() {
          const { done, value } = await iterator.next();
          return done ? { done, value } : { done: false, value: validate(await value) };
        },
        async return() {
          await iterator.return?.();
          return { done: true, value: undefined };
        },
      };
    },
  };
}

function isIterable(value: unknown): value is AsyncIterable<unknown> | Iterable<unknown> {
  return typeof value === "object" && value !== null && (isAsyncIterable(value) || Symbol.iterator in value);
}

/** Calls the other end's methods and listens to its events, by name and with types. */
export interface Caller<S> {
  /**
   * Calls a method: `caller.call.name(args, options)`. Rejects like the endpoint's `call`, and for values that do not match the
   * schema (see {@link ChannelSchema}).
   */
  readonly call: Callers<S>;
  /** Listens to events: `caller.listen.name(args, options)`. Returns an async iterable. */
  readonly listen: Listeners<S>;
}

type Loose = (args?: unknown, options?: never) => unknown;
type LooseHandlers = {
  methods?: Record<string, (args: unknown, context: unknown) => unknown>;
  events?: Record<string, (args: unknown, sink: unknown) => unknown>;
};

/**
 * A schema that both ends have. It types callers and handlers, and validates every value in both directions.
 *
 * If a value of the program does not match, the schema throws `invalid-argument`. If a value of the other end does not match,
 * it throws `protocol`. The error's message names the value's path and the expected type; the properties `path` and `expected`
 * hold them. A handler does not receive arguments that do not match: the caller receives a remote error with the code
 * `invalid-argument`. Validation creates new lists, maps and structs. It does not copy lists of numbers.
 */
export class ChannelSchema<const S> {
  /** The validated schema, for code generators. */
  readonly shape: SchemaShape;
  readonly #write = new Validators("write");
  readonly #read = new Validators("read");

  /** Use {@link schema} instead. */
  constructor(data: S) {
    this.shape = readSchema(data);
  }

  /** Returns functions for the other end's methods and events. Creates one closure for each of them and sends nothing. Throws `invalid-argument` if `endpoint` is no endpoint. */
  caller(endpoint: Endpoint): Caller<S> {
    const { channel, methods, events } = this.shape;
    const remote = checkedEndpoint(endpoint).methods(channel, standardMethodCodec);
    const call: Record<string, Loose> = Object.create(null);
    for (const { name, args, result } of methods) {
      const validateArgs = this.#writeValidator(args, channel, name, "args");
      const validateResult = this.#readValidator(result, channel, name, "result");
      call[name] = async (given, options) => validateResult(await remote.call(name, validateArgs(given), options));
    }
    const listen: Record<string, Loose> = Object.create(null);
    for (const { name, channel: own, args, value } of events) {
      const source = endpoint.events(own, standardMethodCodec);
      const validateArgs = this.#writeValidator(args, channel, name, "args");
      const validateEvent = this.#readValidator(value, channel, name, "event");
      listen[name] = (given, options) => checkedStream(source.listen(validateArgs(given), options), validateEvent);
    }
    return { call: call as unknown as Callers<S>, listen: listen as unknown as Listeners<S> };
  }

  /**
   * Handles the schema's methods and events for the other end. Disposing the result removes the handlers. Throws
   * `invalid-argument` if a channel already has a handler, if a handler is missing, or if `endpoint` is no endpoint.
   */
  handle(endpoint: Endpoint, handlers: HandlersOf<S>, options?: ServeOptions): Disposable {
    const { channel, methods, events } = this.shape;
    const given = object("handlers", handlers) as LooseHandlers;
    checkedEndpoint(endpoint);
    const stops: Disposable[] = [];
    const end = (): void => {
      for (const stop of stops.splice(0)) stop[dispose]();
    };
    try {
      const own: Record<string, MethodHandler> = Object.create(null);
      for (const { name, args, result } of methods) {
        const run = handlerOf(given.methods, `methods.${name}`, name);
        const validateArgs = this.#readValidator(args, channel, name, "args", "invalid-argument");
        const validateResult = this.#writeValidator(result, channel, name, "result");
        own[name] = async (asked: unknown, context: unknown) => validateResult(await run(validateArgs(asked), context));
      }
      const served = events.map(({ name, channel: at, args, value }) => {
        const open = handlerOf(given.events, `events.${name}`, name);
        const validateArgs = this.#readValidator(args, channel, name, "args", "invalid-argument");
        const validateEvent = this.#writeValidator(value, channel, name, "event");
        return () =>
          endpoint
            .events(at, standardMethodCodec)
            .serve(
              (asked, sink) =>
                checkedSource(open(validateArgs(asked), checkedSink(sink, validateEvent)), validateEvent),
              options,
            );
      });
      if (methods.length > 0) stops.push(endpoint.methods(channel, standardMethodCodec).handle(own));
      for (const serve of served) stops.push(serve());
    } catch (error) {
      end();
      throw error;
    }
    return { [dispose]: end };
  }

  #writeValidator(type: TypeShape, channel: string, name: string, root: string) {
    return validated(this.#write.of(type), `${channel}, ${name}`, root, "invalid-argument");
  }

  #readValidator(
    type: TypeShape,
    channel: string,
    name: string,
    root: string,
    code: "protocol" | "invalid-argument" = "protocol",
  ) {
    return validated(this.#read.of(type), `${channel}, ${name}`, root, code);
  }
}

/**
 * Declares the methods and events of a channel, as plain data that can be stored as JSON. `clearway-native gen` generates a C
 * header and a Rust trait from the same data. The compiler infers the types of callers and handlers from the data. Throws
 * `invalid-argument` with the path of the invalid part.
 */
export function schema<const S extends SchemaData>(data: S): ChannelSchema<S> {
  return new ChannelSchema(data);
}

function checkedEndpoint(endpoint: Endpoint): Endpoint {
  if (typeof (endpoint as Partial<Endpoint> | undefined)?.methods === "function") return endpoint;
  throw invalid("endpoint", "an endpoint", endpoint);
}

function handlerOf<T>(handlers: Record<string, T> | undefined, path: string, name: string): T {
  const handler = handlers !== undefined && Object.hasOwn(handlers, name) ? handlers[name] : undefined;
  if (typeof handler !== "function") throw invalid(path, "a function", handler);
  return handler;
}
