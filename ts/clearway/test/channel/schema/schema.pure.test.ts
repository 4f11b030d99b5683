// SPDX-License-Identifier: MIT OR Apache-2.0
import { connect, type EndpointOptions, memoryPair, move, schema } from "clearway/channel";
import { describe, expect, test } from "vitest";
import { standardMessageCodec } from "../../../src/channel/codec/standard.js";
import { readSchema, type Type, TypeReader } from "../../../src/channel/schema/schema.js";
import { type Direction, shown, ValidationIssue, Validators } from "../../../src/channel/schema/validator.js";
import { dispose } from "../../../src/globals.js";

const thermometer = {
  channel: "lab/thermometer",
  types: {
    unit: { oneOf: ["celsius", "kelvin"] },
    reading: { struct: { level: "f64", unit: { ref: "unit" }, note: { nullable: "text" } } },
  },
  methods: {
    level: { doc: "Reads once.", args: { struct: { unit: { ref: "unit" } } }, result: { ref: "reading" } },
    reset: {},
  },
  events: {
    changed: { args: "i32", value: { list: { ref: "reading" } } },
    alarm: { value: "text", channel: "lab/alarm" },
  },
};

const refusalOf = (value: unknown): string => {
  try {
    readSchema(value);
  } catch (error) {
    expect(error).toMatchObject({ name: "ClearwayError", code: "invalid-argument" });
    return (error as Error).message;
  }
  throw new Error("the schema was taken");
};

describe("a schema", () => {
  test("is parsed into methods and events with resolved types, in the order of their declaration", () => {
    const shape = readSchema(thermometer);
    expect(shape.channel).toBe("lab/thermometer");
    expect(shape.methods.map(({ name, doc }) => [name, doc])).toEqual([
      ["level", "Reads once."],
      ["reset", ""],
    ]);
    expect(shape.methods[0]?.result).toEqual({
      kind: "struct",
      name: "reading",
      fields: [
        { name: "level", type: { kind: "f64" } },
        { name: "unit", type: { kind: "one-of", name: "unit", texts: ["celsius", "kelvin"] } },
        { name: "note", type: { kind: "nullable", of: { kind: "text" } } },
      ],
    });
    expect(shape.methods[1]).toMatchObject({ args: { kind: "null" }, result: { kind: "null" } });
  });

  test("gives each event its own channel, whose name can be chosen", () => {
    const { events } = readSchema(thermometer);
    expect(events.map(({ channel }) => channel)).toEqual(["lab/thermometer/changed", "lab/alarm"]);
  });

  test("is parsed from JSON with the same result", () => {
    expect(readSchema(JSON.parse(JSON.stringify(thermometer)))).toEqual(readSchema(thermometer));
  });

  test("is refused with the path to the mistake, the expected form and the actual value", () => {
    expect(refusalOf(null)).toBe("schema must be an object: schema=null");
    expect(refusalOf({ channel: "" })).toBe('channel must be a text that is not empty: channel=""');
    expect(refusalOf({ channel: "a", method: {} })).toContain('schema="method"');
    const method = (args: unknown): string =>
      refusalOf({ channel: "a", types: { t: "i32" }, methods: { m: { args } } });
    expect(method("int32")).toMatch(
      /^methods\.m\.args must be one of any, null, bool, i32, .*: methods\.m\.args="int32"$/,
    );
    expect(method("t")).toBe('methods.m.args must be { ref: "t" }: methods.m.args="t"');
    expect(method({ list: { map: 5 } })).toBe("methods.m.args.list.map must be an object: methods.m.args.list.map=5");
    expect(method({ list: "i32", map: "i32" })).toContain("an object with one property");
    expect(method({ struct: { a: { ref: "u" } } })).toContain(
      "methods.m.args.struct.a.ref must be one of the schema's types: t",
    );
    expect(method({ oneOf: ["a", "a"] })).toContain("a list of different texts");
    expect(method({ nullable: { nullable: "i32" } })).toContain("has no null yet");
    expect(refusalOf({ channel: "a", methods: { m: { arg: "i32" } } })).toContain('methods.m="arg"');
    expect(refusalOf({ channel: "a", events: { e: {} } })).toContain("events.e.value");
  });

  test("that contains itself, or is nested too deep, is refused", () => {
    const types = { a: { struct: { b: { ref: "b" } } }, b: { list: { ref: "a" } } };
    expect(refusalOf({ channel: "a", types })).toContain("a type that does not hold itself");
    let deep: object = { list: "i32" };
    for (let depth = 0; depth < 10_000; depth++) deep = { list: deep };
    expect(refusalOf({ channel: "a", events: { e: { value: deep } } })).toContain("nested at most 32 deep");
  });

  test("refuses __proto__ as a name, and an inherited name as a type", () => {
    expect(refusalOf(JSON.parse('{"channel":"a","methods":{"__proto__":{}}}'))).toContain("__proto__");
    expect(refusalOf({ channel: "a", events: { e: { value: { ref: "toString" } } } })).toContain("it has none");
  });
});

const fit = (type: Type, value: unknown, direction: Direction = "read"): unknown =>
  new Validators(direction).of(new TypeReader({}).read(type, "type"))(value);

const issue = (type: Type, value: unknown, direction: Direction = "read"): string => {
  try {
    fit(type, value, direction);
  } catch (thrown) {
    if (!(thrown instanceof ValidationIssue)) throw thrown;
    return `${thrown.at("args")}: ${thrown.expected}, not ${shown(thrown.value)}`;
  }
  throw new Error("the value was taken");
};

const byWire = (type: Type, value: unknown): unknown =>
  fit(type, standardMessageCodec.decode(standardMessageCodec.encode(fit(type, value, "write"))));

describe("a schema's validator:", () => {
  test.each<[Type, unknown, unknown]>([
    ["any", [1, "a"], [1, "a"]],
    ["null", undefined, null],
    ["bool", true, true],
    ["i32", -0x80000000, -0x80000000],
    ["i32", -0, 0],
    ["int", -0, 0],
    ["int", 2 ** 53 - 1, 2 ** 53 - 1],
    ["i64", 5, 5n],
    ["i64", -(2n ** 63n), -(2n ** 63n)],
    ["f64", 3, 3],
    ["f64", Number.NaN, Number.NaN],
    ["text", "Zoë", "Zoë"],
    ["bytes", new Uint8Array([1]), new Uint8Array([1])],
    ["f32s", new Float32Array([1.5]), new Float32Array([1.5])],
    [{ list: "i64" }, [1, 2n], [1n, 2n]],
    [{ map: "f64" }, { a: 1 }, { a: 1 }],
    [{ nullable: "text" }, undefined, null],
    [{ oneOf: ["a", "b"] }, "b", "b"],
    [{ struct: { a: "i32", b: { nullable: "i32" } } }, { a: 1 }, { a: 1, b: null }],
    [{ struct: {} }, {}, {}],
  ])("%j: %o passes", (type, value, read) => {
    expect(byWire(type, value)).toEqual(read);
  });

  test("a number of type f64 is encoded as a float, even when it is whole", () => {
    const bytes = standardMessageCodec.encode(fit({ list: "f64" }, [1], "write"));
    expect(bytes[8]).toBe(0);
    expect(bytes[2]).toBe(6);
  });

  test("a value that does not fit is refused with its path, the expected type and the value", () => {
    expect(issue("i32", 2 ** 31)).toBe("args: a whole number of 32 bits, not 2147483648");
    expect(issue("int", 2 ** 53)).toContain("a whole number up to 2^53");
    expect(issue("i64", 2n ** 63n)).toBe("args: a whole number of 64 bits, not 9223372036854775808n");
    expect(issue("i64", 0.5)).toContain("not 0.5");
    expect(issue("bytes", [1])).toBe("args: a Uint8Array, not Array");
    expect(issue({ oneOf: ["a", "b"] }, "c")).toBe('args: one of "a", "b", not "c"');
    const places: Type = { struct: { places: { list: { map: { struct: { city: "text" } } } } } };
    expect(issue(places, { places: [{}, { "left bank": { city: 5 } }] })).toBe(
      'args.places[1]["left bank"].city: a text, not 5',
    );
    expect(issue(places, {})).toBe("args.places: a list, not undefined");
    expect(issue(places, null)).toBe("args: an object with places, not null");
    expect(issue(places, new Map())).toContain("not Map");
  });

  test.each([
    new Set([1]),
    new Map([["a", 1]]),
    new Date(0),
    new Error("a"),
    [1],
    new Uint8Array(1),
    new ArrayBuffer(1),
  ])("a value with its content elsewhere than in its properties is refused as a map and as a struct (%o)", (value) => {
    expect(issue({ map: "any" }, value, "write")).toContain("args: a map with texts as keys, not ");
    expect(issue({ struct: {} }, value, "write")).toContain("args: an object with no fields, not ");
  });

  test("a field that is not in the schema is refused when written, and dropped when read", () => {
    const type: Type = { struct: { a: "i32" } };
    expect(issue(type, { a: 1, b: 2 }, "write")).toBe("args.b: left out, as the schema has no such field, not 2");
    expect(fit(type, { a: 1, b: 2 })).toEqual({ a: 1 });
    expect(fit(type, { a: 1, b: undefined }, "write")).toEqual({ a: 1 });
  });

  test("inherited property names are not fields, and __proto__ is kept as a key", () => {
    expect(issue({ struct: { ["toString"]: "text" } as never }, {})).toContain("args.toString: a text, not undefined");
    const map = fit({ map: "i32" }, JSON.parse('{"__proto__": 1}')) as object;
    expect(Object.keys(map)).toEqual(["__proto__"]);
    expect(Object.getPrototypeOf(map)).toBe(null);
  });
});

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
  test("handle() without handlers throws invalid-argument that names handlers, and without an endpoint endpoint", async () => {
    const { far, near, handling } = await ends();
    handling[dispose]();
    const untyped = Thermometer as unknown as Record<"handle" | "caller", (...given: unknown[]) => unknown>;
    for (const [act, message] of [
      [() => untyped.handle(far), "handlers must be an object: handlers=undefined"],
      [() => untyped.handle(undefined, handlers), "endpoint must be an endpoint: endpoint=undefined"],
      [() => untyped.caller(undefined), "endpoint must be an endpoint: endpoint=undefined"],
      [() => untyped.caller({}), "endpoint must be an endpoint: endpoint=[object]"],
    ] as const)
      expect(act).toThrow(expect.objectContaining({ code: "invalid-argument", message }));
    await near.close();
  });

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
