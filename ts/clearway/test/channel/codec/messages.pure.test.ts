// SPDX-License-Identifier: MIT OR Apache-2.0
import {
  binaryCodec,
  jsonMessageCodec,
  jsonMethodCodec,
  standardMessageCodec as standard,
  standardMethodCodec,
  stringCodec,
} from "clearway/channel";
import { describe, expect, test } from "vitest";
import { requireLittleEndian } from "../../../src/channel/codec/codec.js";
import { bytes, hex, thrown } from "./thrown.js";

const text = (value: Uint8Array): string => new TextDecoder().decode(value);

describe("a message of null", () => {
  test("is encoded as zero bytes, and zero bytes decode to null", () => {
    expect(standard.encode(null).length).toBe(0);
    expect(standard.decode(new Uint8Array())).toBe(null);
    expect(standard.decode(bytes("00"))).toBe(null);
    expect(jsonMessageCodec.encode(null).length).toBe(0);
    expect(jsonMessageCodec.decode(new Uint8Array())).toBe(null);
    expect(stringCodec.encode(null).length).toBe(0);
    expect(stringCodec.decode(new Uint8Array())).toBe("");
    expect(binaryCodec.encode(null).length).toBe(0);
  });

  test("has a type byte with emptyNull: false, and zero bytes then fail as truncated", () => {
    const full = standard.with({ emptyNull: false });
    expect(hex(full.encode(null))).toBe("00");
    expect(thrown(() => full.decode(new Uint8Array()))).toBe("truncated 0");
  });

  test("has a type byte inside a method's arguments and result", () => {
    expect(hex(standardMethodCodec.call.encode({ method: "m", args: null }))).toBe("07016d00");
    expect(hex(standardMethodCodec.reply.encode({ kind: "success", value: undefined }))).toBe("0000");
    expect(text(jsonMethodCodec.call.encode({ method: "m", args: undefined }))).toBe('{"method":"m","args":null}');
    expect(text(jsonMethodCodec.reply.encode({ kind: "success", value: undefined }))).toBe("[null]");
  });
});

describe.each([
  ["standard", standardMethodCodec],
  ["json", jsonMethodCodec],
])("the %s method codec", (_, codec) => {
  const error = { kind: "error", code: "c", message: null, details: [1, "x"] } as const;

  test("decodes the messages that it encodes", () => {
    const call = { method: "m☺", args: { a: [1, null] } };
    expect(codec.call.decode(codec.call.encode(call))).toEqual(call);
    for (const reply of [error, { ...error, message: "m", stack: "at x" }, { ...error, stack: null }] as const)
      expect(codec.reply.decode(codec.reply.encode(reply))).toEqual(reply);
    expect(codec.reply.decode(codec.reply.encode(error))).not.toHaveProperty("stack");
    expect(codec.reply.decode(codec.reply.encode({ kind: "success", value: [] }))).toEqual({
      kind: "success",
      value: [],
    });
  });

  test("encodes a missing reply as zero bytes, and decodes zero bytes to a missing reply", () => {
    expect(codec.reply.decode(new Uint8Array())).toEqual({ kind: "none" });
    expect(codec.reply.encode({ kind: "none" }).length).toBe(0);
  });

  test("refuses an envelope with parts of the wrong type", () => {
    const wrong = (part: object) => thrown(() => codec.reply.encode({ ...error, ...part } as never));
    expect([wrong({ code: 1 }), wrong({ message: 1 }), wrong({ stack: 1 })]).toEqual(
      new Array(3).fill("not-encodable 0"),
    );
    expect(thrown(() => codec.call.encode({ method: 1, args: 1 } as never))).toBe("not-encodable 0");
  });

  test("refuses values that are nested deeper than its depthMax, and a depthMax over 1000", () => {
    const flat = codec.with({ depthMax: 4 });
    const nested = JSON.parse("[".repeat(20) + "]".repeat(20));
    expect(thrown(() => flat.call.encode({ method: "m", args: nested }))).toMatch(/^too-deep/);
    expect(thrown(() => flat.reply.decode(codec.reply.encode({ kind: "success", value: nested })))).toMatch(
      /^too-deep/,
    );
    expect(thrown(() => codec.with({ depthMax: 1001 }))).toBe("invalid-argument");
  });
});

describe("the JSON codec", () => {
  test("refuses to decode a value that is not a Uint8Array", () => {
    const wrong = "null" as unknown as Uint8Array;
    expect(thrown(() => jsonMessageCodec.decode(wrong))).toBe("invalid-argument");
    expect(thrown(() => jsonMethodCodec.reply.decode(wrong))).toBe("invalid-argument");
  });

  test.each<[string, unknown]>([
    ["a bigint", 1n],
    ["a function", () => 1],
    ["a symbol", Symbol("s")],
  ])("refuses %s", (_, value) => {
    expect(thrown(() => jsonMessageCodec.encode(value))).toBe("not-encodable 0");
  });

  test("refuses a circular value, and one that is nested too deep", () => {
    const circle: unknown[] = [];
    circle.push(circle);
    expect(thrown(() => jsonMessageCodec.encode(circle))).toBe("not-encodable 0");
    let deep: unknown[] = [];
    for (let depth = 0; depth < 128; depth++) deep = [deep];
    expect(thrown(() => jsonMessageCodec.encode(deep))).toBe("too-deep 0");
    expect(jsonMessageCodec.decode(jsonMessageCodec.encode(deep[0]))).toEqual(deep[0]);
  });

  test("never sets a prototype", () => {
    const read = jsonMessageCodec.decode(new TextEncoder().encode('{"__proto__":{"polluted":true}}')) as object;
    expect(Object.getPrototypeOf(read)).toBe(Object.prototype);
    expect(Object.keys(read)).toEqual(["__proto__"]);
  });
});

test("the text and binary codecs refuse values of another type, and the text codec a lone surrogate", () => {
  expect(thrown(() => stringCodec.encode(1 as unknown as string))).toBe("not-encodable 0");
  expect(thrown(() => stringCodec.encode("\ud800"))).toBe("not-encodable 0");
  expect(thrown(() => binaryCodec.encode("x" as unknown as Uint8Array))).toBe("not-encodable 0");
});

test("itemsMax limits the announced items, even when the message is large", () => {
  const few = standard.with({ itemsMax: 3 });
  expect(few.decode(bytes("0c 03 00 00 00"))).toEqual([null, null, null]);
  expect(thrown(() => few.decode(bytes("0c 04 00 00 00 00")))).toBe("too-large 1");
  expect(thrown(() => few.decode(bytes("0c 02 0d 01 00 00 00")))).toBe("too-large 3");
  expect(thrown(() => standard.with({ itemsMax: -1 }))).toBe("invalid-argument");
});

test("a big-endian host is refused", () => {
  expect(thrown(() => requireLittleEndian(new Uint16Array([256])))).toBe("unsupported-host 0");
});
