// SPDX-License-Identifier: MIT OR Apache-2.0
import {
  type Extension,
  extension,
  standardMessageCodec as standard,
  standardMethodCodec,
  type ValueReader,
  type ValueWriter,
} from "clearway/channel";
import { describe, expect, test } from "vitest";
import { bytes, hex, thrown } from "./thrown.js";

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
