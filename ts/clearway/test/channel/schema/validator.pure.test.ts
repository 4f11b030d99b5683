// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import { standardMessageCodec } from "../../../src/channel/codec/standard.js";
import { type Type, TypeReader } from "../../../src/channel/schema/schema.js";
import { type Direction, shown, ValidationIssue, Validators } from "../../../src/channel/schema/validator.js";

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
