// SPDX-License-Identifier: MIT OR Apache-2.0
import {
  binaryCodec,
  type Extension,
  extension,
  jsonMessageCodec,
  jsonMethodCodec,
  standardMessageCodec as standard,
  standardMethodCodec,
  stringCodec,
  type ValueReader,
  type ValueWriter,
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

class Point {
  constructor(
    readonly x: number,
    readonly y: number,
    readonly label: unknown = null,
  ) {}
}

const point = extension({
  tag: 128,
  type: Point,
  write({ x, y, label }: Point, writer) {
    writer.float64(x);
    writer.float64(y);
    writer.value(label);
  },
  read: (reader) => new Point(reader.float64(), reader.float64(), reader.value()),
});
const date = extension({
  tag: 255,
  type: Date,
  write: (value: Date, writer) => writer.int64(BigInt(value.getTime())),
  read: (reader) => new Date(Number(reader.int64())),
});
const codec = standard.with({ extensions: [point, date] });

describe("an extension", () => {
  test("has its type byte and its own body, and may hold values of any kind", () => {
    const value = [new Point(1, 2, { at: new Date(5), inner: new Point(3, 4) })];
    const message = codec.encode(value);
    expect(hex(message)).toMatch(/^0c01800000000000000000000000f03f0000000000000040/);
    const read = codec.decode(message);
    expect(read).toEqual(value);
    expect((read as Point[])[0]).toBeInstanceOf(Point);
  });

  test("also applies to methods, and codecs without it stay unchanged", () => {
    const methods = standardMethodCodec.with({ extensions: [date] });
    const reply = { kind: "success", value: new Date(5) } as const;
    expect(methods.reply.decode(methods.reply.encode(reply))).toEqual(reply);
    expect(thrown(() => standard.encode(new Date(5)))).toBe("not-encodable 0");
    expect(thrown(() => standard.decode(codec.encode(new Date(5))))).toBe("unknown-tag 0");
  });

  test("applies to one class, not to its subclasses", () => {
    class Subclass extends Point {}
    expect(thrown(() => codec.encode(new Subclass(1, 2)))).toBe("not-encodable 0");
  });

  test("counts as a level of depth", () => {
    let nested = new Point(0, 0);
    for (let depth = 0; depth < 128; depth++) nested = new Point(0, 0, nested);
    expect(thrown(() => codec.encode(nested))).toMatch(/^too-deep/);
    expect(codec.decode(codec.encode(nested.label))).toEqual(nested.label);
    const circle = new Point(0, 0, []);
    (circle.label as unknown[]).push(circle);
    expect(thrown(() => codec.encode(circle))).toMatch(/^too-deep/);
  });

  test("cannot read beyond the message's end", () => {
    const whole = codec.encode(new Point(1, 2, "label"));
    for (let size = 0; size < whole.length; size++)
      expect(size === 0 ? "truncated" : thrown(() => codec.decode(whole.subarray(0, size)))).toMatch(/^truncated/);
  });

  test.each<[string, Partial<Extension>]>([
    ["with a tag of the codec's own", { tag: 127 }],
    ["with a tag larger than a byte", { tag: 256 }],
    ["with the tag of another extension", { tag: 128 }],
    ["with the class of another extension", { tag: 129, type: Point }],
    ["for Object itself", { tag: 129, type: Object }],
    ["without a class", { tag: 129, type: undefined as never }],
  ])("is refused %s", (_, part) => {
    const other = { ...date, ...part } as Extension;
    expect(thrown(() => standard.with({ extensions: [point, other] }))).toBe("invalid-argument");
  });

  test.each(["write", "read"])("without %s() is refused when the codec is made, by its tag", (name) => {
    expect(() => standard.with({ extensions: [{ ...date, tag: 130, [name]: undefined }] })).toThrow(
      `${name} of the extension with tag 130 must be a function`,
    );
  });

  test("that throws while it decodes fails with malformed, and the error is the cause", () => {
    const cause = new RangeError("no such thing");
    const broken = standard.with({
      extensions: [
        {
          ...date,
          read() {
            throw cause;
          },
        },
      ],
    });
    expect(thrown(() => broken.decode(bytes("0c01ff")))).toBe("malformed 2");
    expect(() => broken.decode(bytes("ff"))).toThrow(expect.objectContaining({ cause }));
  });
});

test("every kind of value that an extension writes is read back unchanged", () => {
  class Parts {}
  const checks: unknown[] = [];
  const parts = extension({
    tag: 200,
    type: Parts,
    write(_: Parts, writer: ValueWriter) {
      writer.uint8(255);
      writer.int32(-5);
      writer.uint32(0xffff_fffe);
      writer.int64(-(2n ** 63n));
      writer.size(70_000);
      writer.pad(4);
      checks.push(writer.offset % 4);
      writer.bytes(bytes("0102"));
      writer.text("h☺w");
      writer.float64(0.5);
    },
    read(reader: ValueReader) {
      checks.push(reader.uint8(), reader.int32(), reader.uint32(), reader.int64(), reader.size());
      reader.pad(4);
      checks.push(reader.offset % 4, hex(reader.bytes(2)), reader.text(), reader.float64(), reader.left);
      return new Parts();
    },
  });
  const own = standard.with({ extensions: [parts] });
  expect(own.decode(own.encode(new Parts()))).toBeInstanceOf(Parts);
  expect(checks).toEqual([0, 255, -5, 0xffff_fffe, -(2n ** 63n), 70_000, 0, "0102", "h☺w", 0.5, 0]);
});

test.each<[string, (writer: ValueWriter) => void]>([
  ["uint8", (writer) => writer.uint8(256)],
  ["int32", (writer) => writer.int32(2 ** 31)],
  ["uint32", (writer) => writer.uint32(-1)],
  ["int64", (writer) => writer.int64(2n ** 63n)],
  ["size", (writer) => writer.size(1.5)],
  ["bytes", (writer) => writer.bytes([1] as unknown as Uint8Array)],
  ["text", (writer) => writer.text(1 as unknown as string)],
  ["float64", (writer) => writer.float64("1" as unknown as number)],
  ["pad", (writer) => writer.pad(3 as 4)],
])("a writer's %s refuses a value that does not fit", (_, write) => {
  const own = standard.with({ extensions: [{ ...date, write: (__, writer) => write(writer) }] });
  expect(thrown(() => own.encode(new Date()))).toBe("invalid-argument");
});
