// SPDX-License-Identifier: MIT OR Apache-2.0
import { afterEach, describe, expect, test } from "vitest";
import { outOfBand } from "../../../src/channel/codec/codec.js";
import { extension } from "../../../src/channel/codec/extension.js";
import { jsonMessageCodec, jsonMethodCodec } from "../../../src/channel/codec/json.js";
import { standardMessageCodec as standard, standardMethodCodec } from "../../../src/channel/codec/standard.js";
import { type Float64, float64 } from "../../../src/channel/codec/tags.js";
import { RemoteError } from "../../../src/channel/endpoint/outcome.js";
import { readError, writeError } from "../../../src/channel/wire/error-body.js";
import { Op, readFrame, readHello, writeFrame } from "../../../src/channel/wire/frame.js";
import fc, { cases } from "../../fixtures/fast-check.js";
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

afterEach(() => {
  outOfBand.valuesMax = undefined;
});

/** Counts a value and all values in its lists, maps and objects. A shared or a repeated value counts each time. */
function countValues(value: unknown): number {
  if (value === null || typeof value !== "object" || ArrayBuffer.isView(value)) return 1;
  if (value instanceof Map) return [...value].flat().reduce<number>((sum, each) => sum + countValues(each), 1);
  if (value instanceof Error)
    return Reflect.ownKeys(value).reduce((sum, key) => sum + countValues((value as never)[key]), 1);
  const parts = Array.isArray(value) ? value : Object.entries(value).flat();
  return parts.reduce<number>((sum, each) => sum + countValues(each), 1);
}

// Bytes that decoders read far into: type bytes, small sizes and brackets.
const wire = fc.array(fc.oneof({ weight: 8, arbitrary: fc.nat({ max: 14 }) }, fc.constantFrom(0x61, 0xfe)), {
  maxLength: 300,
});
const smallest = fc
  .tuple(fc.constantFrom<number[]>([8, 0], [12, 0], [13, 0], [0], [12, 1, 13, 0], [13, 1, 0, 0]), fc.nat({ max: 200 }))
  .map(([item, count]) => [12, count, ...Array<number[]>(count).fill(item).flat()]);
const messages = fc.oneof(wire, smallest).map((bytes) => Uint8Array.from(bytes));
const json = fc.jsonValue().map((value) => new TextEncoder().encode(JSON.stringify(value)));
const limit = fc.integer({ min: 1, max: 300 });

const read = {
  standard: (bytes: Uint8Array) => standard.decode(bytes),
  "standard, lossless": (bytes: Uint8Array) => standard.with({ lossless: true }).decode(bytes),
  "standard call": (bytes: Uint8Array) => standardMethodCodec.call.decode(bytes).args,
  "standard reply": (bytes: Uint8Array) => Object.values(standardMethodCodec.reply.decode(bytes)).slice(1),
  json: (bytes: Uint8Array) => jsonMessageCodec.decode(bytes),
  "json call": (bytes: Uint8Array) => jsonMethodCodec.call.decode(bytes).args,
};

describe("a decoded message", () => {
  // A message without bytes is one value too.
  test.each(Object.entries(read))("has at most one value for each byte: %s", (_, decode) => {
    fc.assert(
      fc.property(fc.oneof(messages, json), (bytes) => {
        const value = attempt(() => decode(bytes));
        if (value) expect(countValues(value.read)).toBeLessThanOrEqual(bytes.length + 1);
      }),
      { numRuns: cases(500) },
    );
  });

  test.each(Object.entries(read))("has at most valuesMax values in its lists and maps: %s", (name, decode) => {
    fc.assert(
      fc.property(fc.oneof(messages, json), limit, (bytes, valuesMax) => {
        const unlimited = attempt(() => decode(bytes));
        outOfBand.valuesMax = valuesMax;
        const value = attempt(() => decode(bytes));
        outOfBand.valuesMax = undefined;
        if (value) expect(value).toEqual(unlimited);
        // A reply's parts are in a list of this test.
        const parts = Array.isArray(value?.read) && name === "standard reply" ? value.read.length : 0;
        if (value) expect(countValues(value.read) - 1).toBeLessThanOrEqual(valuesMax + parts);
      }),
      { numRuns: cases(500) },
    );
  });

  test("is refused before its values are created, at the count that exceeds valuesMax", () => {
    // The outer list has 2 values, and its first list announces 100.
    const message = Uint8Array.from([12, 2, 12, 100, ...new Uint8Array(100), 0]);
    outOfBand.valuesMax = 101;
    expect(thrown(() => standard.decode(message))).toBe("too-large 3");
    outOfBand.valuesMax = 102;
    expect(countValues(standard.decode(message))).toBe(103);
  });

  test("is refused by its codec's itemsMax when that is smaller than valuesMax", () => {
    outOfBand.valuesMax = 10;
    expect(thrown(() => standard.with({ itemsMax: 3 }).decode(Uint8Array.from([12, 4, 0, 0, 0, 0])))).toBe(
      "too-large 1",
    );
  });

  test("counts the values inside extension values", () => {
    class Row {
      constructor(readonly cells: readonly unknown[]) {}
    }
    const rows = standard.with({
      itemsMax: 4,
      extensions: [
        extension({
          tag: 130,
          type: Row,
          write(row, writer) {
            writer.size(row.cells.length);
            for (const each of row.cells) writer.value(each);
          },
          read: (reader) => new Row(Array.from({ length: reader.size() }, () => reader.value())),
        }),
      ],
    });
    expect(rows.decode(rows.encode(new Row([1, 2, 3, 4])))).toEqual(new Row([1, 2, 3, 4]));
    // Each number takes 5 bytes.
    expect(thrown(() => rows.decode(rows.encode(new Row([1, 2, 3, 4, 5]))))).toBe("too-large 22");
  });
});

describe("a subclass of Array", () => {
  class Vector extends Array<number> {}
  const type = extension({
    tag: 128,
    type: Vector,
    write: (vector, writer) => writer.uint8(vector.length),
    read: (reader) => new Vector(reader.uint8()),
  });

  test("is encoded by its extension, and as a list without one", () => {
    const codec = standard.with({ extensions: [type] });
    const read = codec.decode(codec.encode([Vector.of(7, 8, 9), [1]])) as unknown[];
    expect(read[0]).toBeInstanceOf(Vector);
    expect(read[0]).toHaveLength(3);
    expect(read[1]).toEqual([1]);
    expect(back(Vector.of(7, 8))).toEqual([7, 8]);
  });

  test("can have an extension, and Array itself cannot", () => {
    const forArrays = { ...type, type: Array } as never;
    expect(() => standard.with({ extensions: [forArrays] })).toThrow("a class other than Object and Array");
  });
});

describe("a JSON message", () => {
  test.each([
    ["[1,2,3]", 3],
    ['{"a":1,"b":2}', 4],
    ['{"a":[],"b":[0,{}]}', 8],
    ['["[,:{", "\\",,"]', 2],
    ["1", 0],
  ])("has as many values as brackets, commas and colons, and is refused by a limit below: %s", (text, values) => {
    const bytes = new TextEncoder().encode(text);
    outOfBand.valuesMax = values;
    expect(jsonMessageCodec.decode(bytes)).toEqual(JSON.parse(text));
    outOfBand.valuesMax = values - 1;
    if (values > 0) expect(thrown(() => jsonMessageCodec.decode(bytes))).toMatch(/^too-large /);
  });
});

describe("an error's body", () => {
  test("has at most one value for each byte, beside the properties that every error has", () => {
    const details = fc.oneof(fc.jsonValue(), fc.array(fc.constant([]), { maxLength: 100 }));
    const changed = fc.tuple(details, fc.nat(), fc.nat({ max: 255 })).map(([each, at, byte]) => {
      const cause = Object.assign(new Error("why"), { each });
      const body = writeError(new RemoteError("code", "text", { details: each, cause }), 100_000, true);
      body[at % body.length] = byte;
      return body;
    });
    fc.assert(
      fc.property(fc.oneof(changed, messages), (body) => {
        const error = attempt(() => readError(body, "c", 1 << 20));
        if (error) expect(countValues(error.read)).toBeLessThanOrEqual(body.length + 16);
      }),
      { numRuns: cases(500) },
    );
  });

  test("is refused when it has more than 2^20 values", () => {
    const body = new Uint8Array(6 + (1 << 20) + 1);
    body.set([12, 255]);
    new DataView(body.buffer).setUint32(2, (1 << 20) + 1, true);
    expect(thrown(() => readError(body, "c", 1 << 20))).toBe("too-large 1");
  });
});

test("a hello has at most 7 values, whatever its bytes are", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.nat(0xffff_ffff), fc.nat(0xffff_ffff), (body, a, b) => {
      const frame = readFrame(writeFrame({ op: Op.hello, id: 0x4843_5743, a, b, body }), [])!;
      const hello = readHello(frame);
      expect(hello === undefined).toBe(body.length < 12);
      if (hello) expect(Object.values(hello).flat().length).toBeLessThanOrEqual(6);
    }),
  );
});

/** Returns the result in an object, or undefined if `run` throws a typed error. */
function attempt<T>(run: () => T): { read: T } | undefined {
  let result: { read: T } | undefined;
  const tried = (): void => {
    result = { read: run() };
    throw new Error("read");
  };
  try {
    thrown(tried);
  } catch (error) {
    if ((error as Error).message !== "read") throw error;
  }
  return result;
}
