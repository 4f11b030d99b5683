// SPDX-License-Identifier: MIT OR Apache-2.0
import {
  binaryCodec,
  type Codec,
  extension,
  jsonMessageCodec,
  standardMessageCodec as standard,
  standardMethodCodec,
  stringCodec,
} from "clearway/channel";
import { describe, expect, test } from "vitest";
import { bytes, hex, thrown } from "./thrown.js";

const value = { small: new Uint8Array([1, 2, 3]), floats: new Float64Array([1, 2]), name: "lists" };

describe("a decoded list", () => {
  test("is a copy, so the message's memory can be reused", () => {
    const message = standard.encode(value);
    const read = standard.decode(message);
    message.fill(0xff);
    expect(read).toEqual(value);
  });

  test("is a view when the message is owned and the list is aligned", () => {
    const message = standard.encode(value);
    const read = standard.decode(message, { owned: true }) as typeof value;
    expect(read).toEqual(value);
    expect(read.small.buffer).toBe(message.buffer);
    expect(read.floats.buffer).toBe(message.buffer);
    const shifted = new Uint8Array(message.length + 1);
    shifted.set(message, 1);
    const other = standard.decode(shifted.subarray(1), { owned: true }) as typeof value;
    expect(other).toEqual(value);
    expect(other.small.buffer).toBe(shifted.buffer);
    expect(other.floats.buffer).not.toBe(shifted.buffer);
  });

  test("is a plain Uint8Array when a subclass of Uint8Array was encoded", () => {
    class Mine extends Uint8Array {}
    const read = standard.decode(Mine.from(standard.encode(value)), { owned: true }) as typeof value;
    expect(read.small.constructor).toBe(Uint8Array);
    expect(standard.decode(standard.encode(new Mine([1])))).toEqual(new Uint8Array([1]));
  });
});

describe.skipIf(typeof SharedArrayBuffer === "undefined")("shared memory", () => {
  test("is copied before it is decoded, so decoded lists are writable", () => {
    const message = standard.encode(value);
    const shared = new Uint8Array(new SharedArrayBuffer(message.length + 8));
    expect(standard.encodeInto(value, shared, 8)).toBe(message.length);
    const read = standard.decode(shared.subarray(8), { owned: true }) as typeof value;
    shared.fill(0xff);
    expect(read).toEqual(value);
    expect(read.floats.buffer).toBeInstanceOf(ArrayBuffer);
  });

  test("is decoded and encoded by the other codecs, too", () => {
    const shared = new Uint8Array(new SharedArrayBuffer(16));
    expect(stringCodec.decode(shared.subarray(0, stringCodec.encodeInto("h☺w", shared)))).toBe("h☺w");
    expect(jsonMessageCodec.decode(shared.subarray(0, jsonMessageCodec.encodeInto([1], shared)))).toEqual([1]);
    const read = binaryCodec.decode(shared.subarray(0, binaryCodec.encodeInto(bytes("0102"), shared)), { owned: true });
    expect(read.buffer).toBeInstanceOf(ArrayBuffer);
    expect(hex(read)).toBe("0102");
  });

  test("can hold lists that are encoded", () => {
    const list = new Int32Array(new SharedArrayBuffer(8));
    list[1] = 7;
    expect(standard.decode(standard.encode(list))).toEqual(new Int32Array([0, 7]));
  });
});

describe("encode", () => {
  test("returns memory of the message's exact size, which later messages do not change", () => {
    const first = standard.encode("first");
    standard.encode("other");
    expect(first.buffer.byteLength).toBe(first.length);
    expect(standard.decode(first)).toBe("first");
  });

  test("can run inside another encode", () => {
    const nested = {
      get inner() {
        return standard.encode([1, 2, 3]);
      },
      after: "x",
    };
    const read = standard.decode(standard.encode(nested)) as { inner: Uint8Array; after: string };
    expect(standard.decode(read.inner)).toEqual([1, 2, 3]);
    expect(read.after).toBe("x");
  });

  test("works after an encode that threw, and after a message of megabytes", () => {
    expect(thrown(() => standard.encode([1, () => 1]))).toBe("not-encodable 7");
    const large = new Uint8Array(3_000_000).fill(7);
    const [read, text] = standard.decode(standard.encode([large, "x".repeat(100_000)])) as [Uint8Array, string];
    expect([read.length, read.indexOf(0), read.at(-1), text.length]).toEqual([3_000_000, -1, 7, 100_000]);
    expect(hex(standard.encode([]))).toBe("0c00");
  });
});

describe("encodeInto", () => {
  const codecs: [string, Codec<unknown, never>, unknown][] = [
    ["standard", standard, [1, "two", new Float64Array([3])]],
    ["json", jsonMessageCodec, { a: [1] }],
    ["string", stringCodec, "h☺w"],
    ["binary", binaryCodec, bytes("010203")],
    ["standard-method call", standardMethodCodec.call, { method: "m", args: 1.5 }],
    ["standard-method reply", standardMethodCodec.reply, { kind: "success", value: [1.5] }],
  ];

  test.each(codecs)("of %s writes the same bytes as encode, at any offset", (_, codec, message) => {
    const whole = codec.encode(message as never);
    for (const offset of [0, 1, 5]) {
      const place = new Uint8Array(whole.length + offset).fill(0xee);
      expect(codec.encodeInto(message as never, place, offset)).toBe(whole.length);
      expect(hex(place)).toBe("ee".repeat(offset) + hex(whole));
    }
  });

  test.each(codecs)("of %s returns -1 and writes nothing when the message does not fit", (_, codec, message) => {
    const place = new Uint8Array(codec.encode(message as never).length).fill(0xee);
    expect(codec.encodeInto(message as never, place, 1)).toBe(-1);
    expect(codec.encodeInto(message as never, place.subarray(1))).toBe(-1);
    expect(place.every((byte) => byte === 0xee)).toBe(true);
  });

  test("refuses an offset outside its target, and a target that is not a Uint8Array", () => {
    expect(thrown(() => standard.encodeInto(1, new Uint8Array(9), 10))).toBe("invalid-argument");
    expect(thrown(() => standard.encodeInto(1, new Uint8Array(9), -1))).toBe("invalid-argument");
    expect(thrown(() => standard.encodeInto(1, [] as unknown as Uint8Array))).toBe("invalid-argument");
    expect(thrown(() => standard.decode("00" as unknown as Uint8Array))).toBe("invalid-argument");
  });
});

describe("a long list", () => {
  const long = (fill: number, length = 40_000): Uint8Array => new Uint8Array(length).fill(fill);

  test("is encoded in its place among short values, other lists and long texts, at every alignment", () => {
    for (const shift of [0, 1, 2, 3, 4, 5, 6, 7]) {
      const parts = [
        long(1, 40_000 + shift),
        "short",
        new Float64Array(5000).fill(0.5),
        "☺".repeat(70_000),
        new Float64Array([7]),
        long(2),
        long(3),
        1.5,
      ];
      const message = standard.encode(parts);
      expect(standard.decode(message)).toEqual(parts);
      const place = new Uint8Array(message.length + shift + 1).fill(0xee);
      expect(standard.encodeInto(parts, place, shift)).toBe(message.length);
      expect(place.subarray(shift, -1)).toEqual(message);
      expect([place.at(-1), place.subarray(0, shift).every((byte) => byte === 0xee)]).toEqual([0xee, true]);
    }
  });

  test("is not written when the message does not fit", () => {
    const place = new Uint8Array(40_000).fill(0xee);
    expect(standard.encodeInto(["a", long(1)], place)).toBe(-1);
    expect(place.every((byte) => byte === 0xee)).toBe(true);
  });

  test("may be in the memory that the message is written to", () => {
    const slab = new Uint8Array(100_000).map((_, at) => at % 251);
    const list = slab.subarray(10, 40_010);
    const before = list.slice();
    // The message's head is written over the beginning of the list.
    expect(standard.encodeInto(["x".repeat(20), list], slab)).toBe(40_028);
    expect(standard.decode(slab.subarray(0, 40_028))).toEqual(["x".repeat(20), before]);
  });

  test("that a later getter transfers away is refused, and nothing is written", () => {
    const list = long(1);
    const value = {
      list,
      get moves() {
        return structuredClone(list, { transfer: [list.buffer] }).length;
      },
    };
    const place = new Uint8Array(50_000).fill(0xee);
    expect(thrown(() => standard.encodeInto(value, place))).toBe("released");
    expect(place.every((byte) => byte === 0xee)).toBe(true);
    expect(standard.decode(standard.encode(["next", long(2)]))).toEqual(["next", long(2)]);
  });

  test("that an extension refills and writes repeatedly is copied each time", () => {
    class Blocks {}
    const codec = standard.with({
      extensions: [
        extension({
          tag: 200,
          type: Blocks,
          write(_, writer) {
            const block = long(0);
            for (let n = 1; n <= 3; n++) writer.value(block.fill(n));
          },
          read: (reader) => [reader.value(), reader.value(), reader.value()],
        }),
      ],
    });
    expect(codec.decode(codec.encode([new Blocks(), long(4)]))).toEqual([[long(1), long(2), long(3)], long(4)]);
  });

  test("is written into a given target without allocating memory of its size", () => {
    const list = long(5, 8 << 20);
    const place = new Uint8Array(list.length + 64);
    const own = globalThis.Uint8Array;
    let asked = 0;
    globalThis.Uint8Array = new Proxy(own, {
      construct(target, args) {
        if (typeof args[0] === "number") asked += args[0];
        return Reflect.construct(target, args);
      },
    });
    try {
      standardMethodCodec.call.encodeInto({ method: "m", args: [list] }, place);
    } finally {
      globalThis.Uint8Array = own;
    }
    expect(asked).toBeLessThan(100);
  });
});

test("the binary codec encodes without a copy, and decodes owned bytes without a copy", () => {
  const message = bytes("0102");
  expect(binaryCodec.encode(message)).toBe(message);
  expect(binaryCodec.decode(message, { owned: true })).toBe(message);
  const copy = binaryCodec.decode(message);
  expect(copy.buffer).not.toBe(message.buffer);
  expect(hex(copy)).toBe("0102");
  structuredClone(message, { transfer: [message.buffer] });
  expect(thrown(() => binaryCodec.encode(message))).toBe("released");
});
