// SPDX-License-Identifier: MIT OR Apache-2.0
import { type Float64, float64, standardMessageCodec as standard } from "clearway/channel";
import { describe, expect, test } from "vitest";
import { bytes, hex, thrown } from "./thrown.js";

const back = (value: unknown): unknown => standard.decode(standard.encode(value));

describe("numbers:", () => {
  test.each([
    [0, "0300000000"],
    [-1, "03ffffffff"],
    [2 ** 31, "040000008000000000"],
    [-(2 ** 31) - 1, "04ffffff7fffffffff"],
    [Number.MAX_SAFE_INTEGER, "04ffffffffffff1f00"],
    [Number.MIN_SAFE_INTEGER, "04010000000000e0ff"],
    [5n, "0305000000"],
    [2n ** 31n, "040000008000000000"],
    [-(2n ** 63n), "040000000000000080"],
    [2n ** 63n, `0510${hex(new TextEncoder().encode("8000000000000000"))}`],
    [-(2n ** 64n), `0512${hex(new TextEncoder().encode("-10000000000000000"))}`],
  ])("%s is encoded in the narrowest integer", (value, written) => {
    expect(hex(standard.encode(value))).toBe(written);
  });

  test.each([0.5, -0, 2 ** 53, -(2 ** 60), 1e300, Number.NaN, Number.POSITIVE_INFINITY, Number.MIN_VALUE])(
    "%s is a float64, and decodes to the same number",
    (value) => {
      expect(standard.encode(value)[0]).toBe(6);
      expect(back(value)).toBe(value);
    },
  );

  test("an int64 decodes to a number when a number can hold it exactly, and otherwise to a bigint", () => {
    expect(back(2n ** 53n - 1n)).toBe(2 ** 53 - 1);
    expect(back(2n ** 53n)).toBe(2n ** 53n);
    expect(back(-(2n ** 53n))).toBe(-(2n ** 53n));
    expect(back(2n ** 200n)).toBe(2n ** 200n);
  });

  test("float64() forces a float64, and behaves as its number in arithmetic", () => {
    expect(hex(standard.encode(float64(1)))).toBe("0600000000000000000000000000f03f");
    expect(Number(float64(1)) + 1).toBe(2);
    expect(JSON.stringify([float64(1)])).toBe("[1]");
    expect(thrown(() => float64("1" as unknown as number))).toBe("invalid-argument");
  });

  test("a lossless codec distinguishes a whole float from an integer, and keeps the order of maps", () => {
    const lossless = standard.with({ lossless: true });
    const message = bytes("0d02 070132 06 0000 000000000000f03f 070131 00");
    const read = lossless.decode(message) as Map<string, Float64>;
    expect([...read.keys()]).toEqual(["2", "1"]);
    expect(read.get("2")?.value).toBe(1);
    expect(hex(lossless.encode(read))).toBe(hex(message));
    expect(standard.decode(message)).toEqual({ 1: null, 2: 1 });
  });
});

describe("texts", () => {
  test.each([0, 1, 24, 25, 48, 49, 84, 85, 127, 128, 253, 254, 255, 21845, 65535, 65536, 70_000])(
    "of %i characters are unchanged after encoding and decoding, with characters of one, two and four bytes",
    (length) => {
      for (const character of ["a", "é", "☺"]) {
        const text = character.repeat(length);
        const message = standard.encode([text, 7]);
        expect(standard.decode(message)).toEqual([text, 7]);
        expect(message.length).toBe(2 + 1 + sizeBytes(utf8(text)) + utf8(text) + 5);
      }
      expect(back("😂".repeat(length))).toBe("😂".repeat(length));
    },
  );

  const utf8 = (text: string): number => new TextEncoder().encode(text).length;
  const sizeBytes = (size: number): number => (size < 254 ? 1 : size < 65_536 ? 3 : 5);

  test.each(["\ud800", "a".repeat(100) + "\udc00", "☺".repeat(70_000) + "\ud83d"])(
    "with a lone surrogate are refused, not changed",
    (text) => {
      expect(thrown(() => standard.encode(text))).toBe("not-encodable 1");
    },
  );
});

describe("maps", () => {
  test("with only text keys decode to objects without a prototype, and other maps to Maps", () => {
    const record = back(new Map([["a", 1]]));
    expect(Object.getPrototypeOf(record)).toBe(null);
    expect(record).toEqual({ a: 1 });
    const map = new Map<unknown, unknown>([
      ["a", 1],
      [2, "b"],
      [null, [true]],
    ]);
    expect(back(map)).toEqual(map);
    expect(back(new Map())).toEqual({});
  });

  test("never set a prototype", () => {
    const message = standard.encode(JSON.parse('{"a":1,"__proto__":{"polluted":true},"constructor":{"x":1}}'));
    const read = standard.decode(message) as Record<string, unknown>;
    expect(Object.getPrototypeOf(read)).toBe(null);
    expect(Object.keys(read)).toEqual(["a", "__proto__", "constructor"]);
    expect(({} as { polluted?: true }).polluted).toBe(undefined);
    expect(hex(standard.encode(read))).toBe(hex(message));
  });

  test("contain only an object's own, enumerable, string-keyed properties", () => {
    const inherited = Object.create({ constructor: Object }) as object;
    expect(thrown(() => standard.encode(inherited))).toMatch(/^not-encodable/);
    const record = Object.defineProperty({ a: undefined, [Symbol("s")]: 1 }, "hidden", { value: 1 });
    expect(back(record)).toEqual({ a: null });
  });

  test("do not contain properties that were added to Object.prototype", () => {
    const written = hex(standard.encode({ a: { b: 1 } }));
    Object.defineProperty(Object.prototype, "polluted", {
      value: 1,
      enumerable: true,
      configurable: true,
      writable: true,
    });
    let polluted: Uint8Array;
    try {
      polluted = standard.encode({ a: { b: 1 } });
    } finally {
      Reflect.deleteProperty(Object.prototype, "polluted");
    }
    expect(hex(polluted)).toBe(written);
  });

  test("of another realm are encoded like maps of this realm", () => {
    const realm = Object.create(null, { isPrototypeOf: { value: () => false } });
    expect(back(Object.assign(Object.create(realm), { a: 1 }))).toEqual({ a: 1 });
  });

  test("decode correctly when their keys are cached, and when other keys have replaced these in the cache", () => {
    for (let round = 0; round < 3; round++) {
      for (let at = 0; at < 1000; at++) {
        const key = `key${at}é`.slice(0, round === 1 ? -1 : undefined);
        expect(Object.keys(back({ [key]: 1 }) as object)).toEqual([key]);
      }
    }
  });
});

describe("a value without an encoding", () => {
  class Point {}
  test.each<[string, unknown]>([
    ["a function", () => 1],
    ["a symbol", Symbol("s")],
    ["a Date", new Date()],
    ["a Set", new Set()],
    ["an object of a class", new Point()],
    ["a promise", Promise.resolve()],
    ["an Int8Array", new Int8Array(1)],
    ["a BigUint64Array", new BigUint64Array(1)],
    ["a DataView", new DataView(new ArrayBuffer(1))],
    ["an ArrayBuffer", new ArrayBuffer(1)],
  ])("is refused, not left out: %s", (_, value) => {
    expect(thrown(() => standard.encode({ a: [value] }))).toMatch(/^not-encodable \d+$/);
  });

  test("is refused when it is circular or nested too deep", () => {
    const circle: unknown[] = [];
    circle.push(circle);
    expect(thrown(() => standard.encode(circle))).toBe("too-deep 256");
    expect(thrown(() => standard.with({ depthMax: 1 }).encode([{}]))).toBe("too-deep 2");
    expect(hex(standard.with({ depthMax: 0 }).encode(1))).toBe("0301000000");
  });

  test("is refused when it is a Map or an object that changes while it is encoded", () => {
    const map = new Map<string, unknown>();
    const record: Record<string, unknown> = {};
    const grows = {
      get b() {
        map.set(`${map.size}`, 1);
        delete record["c"];
        return 1;
      },
    };
    map.set("a", grows);
    Object.assign(record, { a: grows, c: 1 });
    expect(thrown(() => standard.encode(record))).toMatch(/^not-encodable/);
    expect(thrown(() => standard.encode(map))).toMatch(/^not-encodable/);
  });

  test("is refused when it is a list whose memory was transferred away", () => {
    const list = new Float64Array(4);
    structuredClone(list, { transfer: [list.buffer] });
    expect(thrown(() => standard.encode(list))).toBe("released");
    expect(back(new Float64Array(0))).toEqual(new Float64Array(0));
  });
});

test("undefined is encoded as null, inside a message and as the whole message", () => {
  expect(back([undefined])).toEqual([null]);
  expect(standard.encode(undefined)).toEqual(new Uint8Array());
});
