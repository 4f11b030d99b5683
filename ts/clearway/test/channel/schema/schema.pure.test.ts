// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import { readSchema } from "../../../src/channel/schema/schema.js";

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
