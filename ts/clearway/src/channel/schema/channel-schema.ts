// SPDX-License-Identifier: MIT OR Apache-2.0
import { invalid } from "../../error/clearway-error.js";
import { standardMethodCodec } from "../codec/standard.js";
import type { Endpoint } from "../endpoint/endpoint.js";
import type { ServeOptions } from "../endpoint/listen-options.js";
import type { MethodHandler } from "../endpoint/methods.js";
import type { Callers, HandlersOf, Listeners } from "./facade-types.js";
import { readSchema, type SchemaData, type SchemaShape } from "./schema.js";
import type { TypeShape } from "./shape.js";
import { checkedSink, checkedSource, checkedStream } from "./streams.js";
import { validated } from "./validated.js";
import { Validators } from "./validator.js";

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

  /** Returns functions for the other end's methods and events. Creates one closure for each of them and sends nothing. */
  caller(endpoint: Endpoint): Caller<S> {
    const { channel, methods, events } = this.shape;
    const remote = endpoint.methods(channel, standardMethodCodec);
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
   * `invalid-argument` if a channel already has a handler, or if a handler is missing.
   */
  handle(endpoint: Endpoint, handlers: HandlersOf<S>, options?: ServeOptions): Disposable {
    const { channel, methods, events } = this.shape;
    const given = handlers as LooseHandlers;
    const stops: Disposable[] = [];
    const end = (): void => {
      for (const stop of stops.splice(0)) stop[Symbol.dispose]();
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
    return { [Symbol.dispose]: end };
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

function handlerOf<T>(handlers: Record<string, T> | undefined, path: string, name: string): T {
  const handler = handlers !== undefined && Object.hasOwn(handlers, name) ? handlers[name] : undefined;
  if (typeof handler !== "function") throw invalid(path, "a function", handler);
  return handler;
}
