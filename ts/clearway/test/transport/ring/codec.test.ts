// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import { ClearwayError } from "../../../src/error/clearway-error.js";
import { Op } from "../../../src/transport/protocol.js";
import { Encoder } from "../../../src/transport/ring/encode.js";
import { frameWordsMax } from "../../../src/transport/ring/layout.js";
import fc, { cases } from "../../fixtures/fast-check.js";
import { revoked } from "../../fixtures/misdeeds.js";
import { decoded } from "./pair.js";

const encoder = new Encoder();

/** Encodes and decodes a value. Returns it, or "by port" when the codec refuses it. */
function across(value: unknown): { value: unknown } | "by port" {
  const words = encoder.frame(Op.Result, 7, value, 0, true);
  if (words === 0) return "by port";
  const private_ = encoder.words.slice(0, words);
  expect([private_[0]! & 0xff, private_[1]]).toEqual([Op.Result, 7]);
  const [got, runUs] = decoded(private_);
  expect(runUs).toBe(0);
  return { value: got };
}

/** Returns everything that structured clone keeps of a value, as plain data: key order, -0, holes and prototypes too. */
function shape(value: unknown): unknown {
  if (Object.is(value, -0)) return "-0";
  if (value === null || typeof value !== "object")
    return typeof value === "number" ? String(value) : [typeof value, value];
  if (ArrayBuffer.isView(value)) {
    const { buffer, byteOffset, byteLength } = value;
    return [Object.prototype.toString.call(value), byteOffset, byteLength, ...new Uint8Array(buffer)];
  }
  if (value instanceof ArrayBuffer) return ["buffer", ...new Uint8Array(value)];
  const keys = Object.keys(value).map((key) => [key, shape((value as Record<string, unknown>)[key])]);
  return [Object.getPrototypeOf(value) === Object.prototype, Array.isArray(value) && value.length, ...keys];
}

function refuse(): never {
  throw new RangeError("not today");
}

function holed(): number[] {
  const array = [1, 2, 3];
  delete array[1];
  return array;
}

const text = fc.string({ unit: fc.nat(0xffff).map((unit) => String.fromCharCode(unit)), maxLength: 40 });
const memory = fc.oneof(
  ...[Int8Array, Uint8Array, Uint8ClampedArray, Uint16Array, Int32Array, Float64Array, BigInt64Array].map((Type) =>
    fc.nat(9).map((length) => {
      const view = new Type(length);
      new Uint8Array(view.buffer).forEach((_, at, bytes) => {
        bytes[at] = at * 37 + 1;
      });
      return view as object;
    }),
  ),
  fc.nat(9).map((length) => new ArrayBuffer(length) as object),
  fc.nat(9).map((length) => new DataView(new ArrayBuffer(length)) as object),
  fc.nat(9).map((length) => new Uint8Array(new ArrayBuffer(16), 1, length) as object),
);
const values = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.integer(),
    fc.double(),
    fc.constantFrom<unknown>(
      undefined,
      null,
      true,
      false,
      -0,
      Number.NaN,
      2 ** 31,
      -(2 ** 31),
      2 ** 23,
      -(2 ** 23) - 1,
    ),
    text,
    fc.string(),
    memory,
    fc.bigInt(),
    fc.date({ noInvalidDate: true }),
    fc.array(tie("value"), { maxLength: 6 }),
    fc.dictionary(fc.oneof(fc.string(), text, fc.nat(20).map(String)), tie("value"), {
      maxKeys: 6,
      noNullPrototype: true,
    }),
    fc.constantFrom(holed(), Object.assign([1, 2], { name: 3 }), new Map([[1, 2]]), new Set([1]), /x/g),
  ),
})).value;

describe("a value in the ring", () => {
  test("arrives exactly as through structured clone, or goes by port", () => {
    const runs = cases(3000);
    let crossed = 0;
    fc.assert(
      fc.property(values, (value) => {
        const got = across(value);
        if (got === "by port") return;
        crossed++;
        expect(shape(got.value)).toEqual(shape(structuredClone(value)));
      }),
      { numRuns: runs },
    );
    expect(crossed).toBeGreaterThanOrEqual(Math.floor(runs / 3));
  });

  test.each<[string, unknown]>([
    ["minus zero", -0],
    ["not a number", Number.NaN],
    ["lone surrogates", "\ud800 \udc00"],
    ["latin1 that is not ASCII", "naïve \x80\x9f\xff"],
    ["an empty string", ""],
    ["no values", []],
    ["no keys", {}],
    ["integer keys before other keys", { b: 1, 2: 2, a: 3, 1: 4 }],
    ["names of Object.prototype", { constructor: 1, toString: 2, valueOf: 3, hasOwnProperty: 4 }],
    ["a small view", new Float32Array([1.5, 2.5])],
    ["a DataView", new DataView(new ArrayBuffer(3))],
  ])("may be %s", (_name, value) => {
    const got = across(value);
    expect(got).not.toBe("by port");
    expect(shape((got as { value: unknown }).value)).toEqual(shape(structuredClone(value)));
  });

  const shared = {};
  const cyclic: unknown[] = [];
  cyclic.push(cyclic);
  const buffer = new ArrayBuffer(8);
  test.each<[string, unknown]>([
    ["an object that occurs twice", [shared, shared]],
    ["a cycle", cyclic],
    ["a buffer under two views", [new Uint8Array(buffer), new Int8Array(buffer)]],
    ["a buffer beside its view", [new Uint8Array(buffer), buffer]],
    ["a view on part of a buffer", new Uint8Array(buffer, 4)],
    ["a class instance", new (class Point {})()],
    ["an instance of a subclass of Array", new (class List extends Array {})()],
    ["an object without a prototype", Object.create(null)],
    ["an array with a hole", holed()],
    ["an array with a hole and a name", Object.assign(holed(), { name: 1 })],
    ["an array with a name", Object.assign([1], { name: 1 })],
    ["a big integer", 1n],
    ["a function", () => 1],
    ["a symbol", Symbol("s")],
    ["a date", new Date(0)],
    ["a map", new Map()],
    ["an error", new Error("no")],
    ["an own key __proto__", JSON.parse('{"__proto__": 1}')],
    ["memory over the limit", new Uint8Array(513)],
    ["text over the limit", "x".repeat(4100)],
    ["too many objects", Array.from({ length: 40 }, () => ({}))],
    ["values nested too deep", JSON.parse("[".repeat(40) + "]".repeat(40))],
  ])("goes by port when it is %s", (_name, value) => {
    expect(across(value)).toBe("by port");
  });

  test("goes by port when it has accessors, which are not called", () => {
    let reads = 0;
    const value = {
      get once() {
        return ++reads;
      },
    };
    expect(across(value)).toBe("by port");
    expect(reads).toBe(0);
  });

  test.each<[name: string, value: () => object]>([
    ["a revoked proxy", () => revoked()],
    ["an object that contains a revoked proxy", () => ({ inner: revoked() })],
    ["an array whose getter throws", () => Object.defineProperty([1], 0, { enumerable: true, get: () => refuse() })],
    ["a proxy whose traps throw", () => new Proxy({}, { ownKeys: () => refuse() })],
  ])("goes by port when reading it throws: %s", (_name, value) => {
    expect(across(value())).toBe("by port");
    expect(across([1])).toEqual({ value: [1] });
  });

  test("may be a proxy whose traps send other frames, and these frames go by port", () => {
    let inner: unknown;
    const value = new Proxy(
      { a: 1 },
      {
        ownKeys: (target) => {
          inner = encoder.frame(Op.Result, 8, "inner", 0, true);
          return Reflect.ownKeys(target);
        },
      },
    );
    expect(across(value)).toEqual({ value: { a: 1 } });
    expect(inner).toBe(0);
  });

  test("goes by port when it has memory that must not be copied", () => {
    expect(encoder.frame(Op.Result, 1, new Uint8Array(4), 0, false)).toBe(0);
    expect(encoder.frame(Op.Result, 1, [1, "a"], 0, false)).toBeGreaterThan(0);
  });

  test("is decoded without calling setters on Object.prototype", () => {
    let asked = 0;
    Object.defineProperty(Object.prototype, "trap", { configurable: true, set: () => asked++, get: () => undefined });
    try {
      const got = across({ trap: 1 }) as { value: object };
      expect(Object.getOwnPropertyDescriptor(got.value, "trap")?.value).toBe(1);
      expect(asked).toBe(0);
    } finally {
      delete (Object.prototype as { trap?: unknown }).trap;
    }
  });
});

describe("a frame with arbitrary words", () => {
  const decode = (words: Int32Array): unknown => {
    try {
      return decoded(words);
    } catch (reason) {
      return reason;
    }
  };
  const isSound = (outcome: unknown): void => {
    if (Array.isArray(outcome)) expect(outcome).toHaveLength(2);
    else {
      expect(outcome).toBeInstanceOf(ClearwayError);
      expect(outcome).toMatchObject({ code: "protocol" });
    }
  };

  test("decodes to values or fails with `protocol`", () => {
    const word = fc.oneof(
      fc.integer(),
      fc.tuple(fc.nat(13), fc.integer({ min: -10, max: 300 })).map(([tag, payload]) => tag | (payload << 8)),
    );
    fc.assert(
      fc.property(fc.array(word, { minLength: 2, maxLength: 60 }), (words) => isSound(decode(Int32Array.from(words)))),
      { numRuns: cases(5000) },
    );
  });

  test("decodes to values or fails with `protocol`, also when only one word of a valid frame changed", () => {
    fc.assert(
      fc.property(values, fc.nat(frameWordsMax), fc.integer(), (value, at, word) => {
        const count = encoder.frame(Op.Result, 1, value, 0, true);
        if (count === 0) return;
        const words = encoder.words.slice(0, count);
        words[2 + (at % Math.max(1, count - 2))] = word;
        isSound(decode(words));
      }),
      { numRuns: cases(3000) },
    );
  });

  test.each<[string, number[]]>([
    ["an array longer than its frame", [10 | (0xffffff << 8)]],
    ["an object longer than its frame", [10, 10 | (0x7fffff << 8)]],
    ["text longer than its frame", [7 | (0xffffff << 8)]],
    ["memory longer than its frame", [11 | (0xffff << 16)]],
    ["memory of an unknown kind", [11 | (99 << 8)]],
    ["memory that is not a whole number of elements", [11 | (7 << 8) | (3 << 16), 0, 0]],
    ["a key that is not a string", [10 | (1 << 8), 2, 2, 0]],
    ["a key __proto__", [10 | (1 << 8), 7 | (9 << 8), 0x72705f5f, 0x5f6f746f, 0x5f, 2, 0]],
    ["an unknown tag", [200, 0]],
    ["remaining words", [0, 0, 0]],
    ["values nested too deep", [...new Array(60).fill(9 | (1 << 8)), 0, 0]],
  ])("is refused for %s", (_name, values) => {
    expect(decode(Int32Array.from([0, 1, ...values]))).toMatchObject({ code: "protocol" });
  });
});
