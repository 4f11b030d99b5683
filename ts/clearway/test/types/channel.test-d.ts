// SPDX-License-Identifier: MIT OR Apache-2.0
import { type Caller, type Endpoint, type EventStream, latest, move, schema } from "clearway/channel";
import { webSocketTransport } from "clearway/channel/websocket";
import { expectTypeOf } from "vitest";
import { WebSocket as NodeWebSocket } from "ws";

// The check of types compiles this file against the built declarations. It never runs.

const Thermometer = schema({
  channel: "lab/thermometer",
  types: {
    unit: { oneOf: ["celsius", "kelvin"] },
    reading: { struct: { level: "f64", unit: { ref: "unit" }, note: { nullable: "text" }, at: "i64" } },
  },
  methods: {
    level: { args: { struct: { unit: { ref: "unit" }, samples: { nullable: "i32" } } }, result: { ref: "reading" } },
    image: { args: "bytes", result: { list: { map: "f32s" } } },
    reset: {},
  },
  events: {
    changed: { args: { nullable: "i32" }, value: { ref: "reading" } },
    alarm: { value: "text" },
  },
});

declare const endpoint: Endpoint;
const { call, listen } = Thermometer.caller(endpoint);
expectTypeOf(Thermometer.caller(endpoint)).toExtend<Caller<unknown>>();

interface Reading {
  readonly level: number;
  readonly unit: "celsius" | "kelvin";
  readonly note: string | null;
  readonly at: bigint;
}

// Callers may omit nullable fields. A method without arguments takes none.
expectTypeOf(call.level({ unit: "celsius" })).toEqualTypeOf<Promise<Reading>>();
expectTypeOf(call.level({ unit: "kelvin", samples: 5 }, { timeoutMs: 5 })).toEqualTypeOf<Promise<Reading>>();
expectTypeOf(call.image(move(new Uint8Array(5)))).toEqualTypeOf<Promise<{ readonly [key: string]: Float32Array }[]>>();
expectTypeOf(call.reset()).toEqualTypeOf<Promise<null>>();
expectTypeOf(listen.changed()).toEqualTypeOf<EventStream<Reading>>();
expectTypeOf(listen.changed(5, latest())).toEqualTypeOf<EventStream<Reading>>();
expectTypeOf(listen.alarm()).toEqualTypeOf<EventStream<string>>();

// @ts-expect-error: arguments are needed
void call.level();
// @ts-expect-error: no such unit
void call.level({ unit: "fahrenheit" });
// @ts-expect-error: no such field
void call.level({ unit: "celsius", sample: 5 });
// @ts-expect-error: no such method
void call.levels;
// @ts-expect-error: a method is not an event
void listen.level;

// Handlers must be complete. Arguments have their types as read, and results their types as written.
Thermometer.handle(endpoint, {
  methods: {
    level({ unit, samples }, { signal }) {
      expectTypeOf(unit).toEqualTypeOf<"celsius" | "kelvin">();
      expectTypeOf(samples).toEqualTypeOf<number | null>();
      expectTypeOf(signal).toEqualTypeOf<AbortSignal>();
      return { level: 5, unit, at: 5 };
    },
    async image(bytes) {
      expectTypeOf(bytes).toEqualTypeOf<Uint8Array>();
      return move([{ red: new Float32Array(5) }]);
    },
    reset() {},
  },
  events: {
    async *changed(every) {
      expectTypeOf(every).toEqualTypeOf<number | null>();
      yield { level: 5, unit: "kelvin", at: 5n } as const;
    },
    alarm(_, sink) {
      void sink.send("hot");
      // @ts-expect-error: an alarm is a text
      void sink.send(5);
    },
  },
});

// @ts-expect-error: events are missing
Thermometer.handle(endpoint, {
  methods: { level: () => ({ level: 5, unit: "kelvin", at: 5 }), image: () => [], reset() {} },
});
const methods = { level: () => ({ level: "5" }), image: () => [], reset() {} };
// @ts-expect-error: a level is a number
Thermometer.handle(endpoint, { methods, events: { changed: () => [], alarm: () => [] } });

// A schema without events needs no event handlers.
const Plain = schema({ channel: "plain", methods: { ping: {} } });
Plain.handle(endpoint, { methods: { ping() {} } });
expectTypeOf(Plain.caller(endpoint).call.ping()).toEqualTypeOf<Promise<null>>();

// @ts-expect-error: no such type
schema({ channel: "a", methods: { m: { args: "int32" } } });

// Accepts a socket of the standard's type, a browser's socket, the package's socket and the package's class.
declare const socket: WebSocket;
declare const other: NodeWebSocket;
webSocketTransport(socket);
webSocketTransport(other);
webSocketTransport("ws://localhost", { WebSocket, token: "a" });
webSocketTransport("ws://localhost", { WebSocket: NodeWebSocket });
