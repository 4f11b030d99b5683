// SPDX-License-Identifier: MIT OR Apache-2.0
import { connect, type EndpointOptions, memoryPair, move, schema } from "clearway/channel";
import { describe, expect, test } from "vitest";
import { dispose } from "../../../src/globals.js";

const Thermometer = schema({
  channel: "lab/thermometer",
  types: {
    unit: { oneOf: ["celsius", "kelvin"] },
    reading: { struct: { level: "f64", unit: { ref: "unit" }, note: { nullable: "text" } } },
  },
  methods: {
    level: { args: { struct: { unit: { ref: "unit" } } }, result: { ref: "reading" } },
    negative: { args: "bytes", result: "bytes" },
    reset: {},
  },
  events: {
    changed: { args: "i32", value: { ref: "reading" } },
    alarm: { value: "text", channel: "lab/alarm" },
  },
});

type Handlers = Parameters<typeof Thermometer.handle>[1];

const handlers: Handlers = {
  methods: {
    level: ({ unit }) => ({ level: 20, unit }),
    negative: (pixels) => pixels.map((level) => 255 - level),
    reset() {},
  },
  events: {
    *changed(count) {
      for (let level = 0; level < count; level++) yield { level, unit: "kelvin" as const };
    },
    async alarm(_, sink) {
      await sink.send("hot");
      sink.end();
    },
  },
};

async function ends(options: EndpointOptions = {}, own: Handlers = handlers) {
  const [near, far] = await Promise.all(memoryPair().map((transport) => connect(transport, options)));
  const handling = Thermometer.handle(far!, own);
  return { near: near!, far: far!, handling, ...Thermometer.caller(near!) };
}

const wrong = { methods: { ...handlers.methods }, events: { ...handlers.events } };

describe.each(["clearway", "plain"] as const)("a schema's callers and handlers on the %s wire", (wire) => {
  test("call methods and answer them by name", async () => {
    const { call, near } = await ends({ wire });
    expect(await call.level({ unit: "celsius" })).toEqual({ level: 20, unit: "celsius", note: null });
    expect(await call.reset()).toBe(null);
    await near.close();
  });

  test("stream events from generators and from the sink", async () => {
    const { listen, near } = await ends({ wire });
    const levels: number[] = [];
    for await (const { level } of listen.changed(20)) levels.push(level);
    expect(levels).toEqual(Array.from({ length: 20 }, (_, level) => level));
    const alarms: string[] = [];
    for await (const alarm of listen.alarm()) alarms.push(alarm);
    expect(alarms).toEqual(["hot"]);
    await near.close();
  });

  test("move values under move()", async () => {
    const { call, near } = await ends({ wire });
    const pixels = new Uint8Array(100_000);
    const negative = call.negative(move(pixels));
    if (wire === "clearway") expect((await negative)[99_999]).toBe(255);
    // The plain wire has no attachments, so it cannot move the list.
    else await expect(negative).rejects.toMatchObject({ code: "would-copy" });
    expect(pixels.length).toBe(wire === "clearway" ? 0 : 100_000);
    await near.close();
  });

  test("refuse invalid arguments with their path before sending", async () => {
    const { call, listen, near } = await ends({ wire });
    await expect(call.level({ unit: "rankine" as "kelvin" })).rejects.toMatchObject({
      code: "invalid-argument",
      message: 'lab/thermometer, level: args.unit must be one of "celsius", "kelvin": args.unit="rankine"',
      path: "args.unit",
      expected: 'one of "celsius", "kelvin"',
    });
    expect(() => listen.changed(0.5)).toThrow(
      "lab/thermometer, changed: args must be a whole number of 32 bits: args=0.5",
    );
    expect(near.stats().calls).toBe(0);
    await near.close();
  });

  test("refuse invalid arguments from another endpoint before a handler sees them", async () => {
    let seen = 0;
    const { near } = await ends({ wire }, { ...wrong, methods: { ...wrong.methods, reset: () => void seen++ } });
    const call = near.methods("lab/thermometer").call("reset", { all: true });
    await expect(call).rejects.toMatchObject({
      code: "invalid-argument",
      message: expect.stringContaining("args must be null"),
    });
    expect(seen).toBe(0);
    const listen = near.events("lab/thermometer/changed").listen("often");
    await expect(listen.next()).rejects.toThrow("args must be a whole number of 32 bits");
    await near.close();
  });

  test("refuse invalid results and events at their sender", async () => {
    const badly = { level: "warm", unit: "kelvin" } as unknown as { level: number; unit: "kelvin" };
    const { call, listen, near } = await ends(
      { wire },
      { methods: { ...wrong.methods, level: () => badly }, events: { ...wrong.events, changed: () => [badly] } },
    );
    const message = 'result.level must be a number: result.level="warm"';
    await expect(call.level({ unit: "kelvin" })).rejects.toThrow(message);
    await expect(listen.changed(1).next()).rejects.toThrow("event.level must be a number");
    await near.close();
  });

  test("refuse invalid answers and events from another endpoint", async () => {
    const { near, far, handling, call, listen } = await ends({ wire });
    handling[dispose]();
    far.methods("lab/thermometer").handle({ level: () => ({ level: 5, unit: "fahrenheit" }) });
    let ended = 0;
    far.events("lab/thermometer/changed").serve(function* () {
      try {
        yield { level: 1, unit: "kelvin" };
        yield 5;
        yield 6;
      } finally {
        ended++;
      }
    });
    await expect(call.level({ unit: "kelvin" })).rejects.toMatchObject({ code: "protocol", path: "result.unit" });
    const stream = listen.changed(1);
    expect((await stream.next()).value).toEqual({ level: 1, unit: "kelvin", note: null });
    await expect(stream.next()).rejects.toMatchObject({ code: "protocol", path: "event" });
    expect(await stream.next()).toEqual({ done: true, value: undefined });
    await near.close();
    await far.closed;
    expect(ended).toBe(1);
  });
});

describe("handling a schema", () => {
  test("requires a function for every method and event, and registers no handler when one is missing", async () => {
    const { far, near, handling } = await ends();
    handling[dispose]();
    const { alarm: _, ...events } = handlers.events;
    const some = { methods: handlers.methods, events } as unknown as Handlers;
    expect(() => Thermometer.handle(far, some)).toThrow("events.alarm must be a function: events.alarm=undefined");
    using again = Thermometer.handle(far, handlers);
    expect(() => Thermometer.handle(far, handlers)).toThrow();
    expect(again).toBeDefined();
    await near.close();
  });
});
