// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Moved } from "../../transfer/move.js";
import type { CallOptions } from "../endpoint/calls.js";
import type { EventStream } from "../endpoint/event-stream.js";
import type { EventSource } from "../endpoint/events.js";
import type { ListenOptions } from "../endpoint/listen-options.js";
import type { HandlerContext } from "../endpoint/served.js";
import type { EventSink } from "../endpoint/source.js";
import type { ReadOf, WriteOf } from "./type.js";

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
