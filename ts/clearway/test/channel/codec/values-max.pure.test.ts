// SPDX-License-Identifier: MIT OR Apache-2.0
import { afterEach, describe, expect, test } from "vitest";
import { outOfBand } from "../../../src/channel/codec/codec.js";
import { extension } from "../../../src/channel/codec/extension.js";
import { jsonMessageCodec, jsonMethodCodec } from "../../../src/channel/codec/json.js";
import { standardMessageCodec as standard, standardMethodCodec } from "../../../src/channel/codec/standard.js";
import { RemoteError } from "../../../src/channel/endpoint/outcome.js";
import { readError, writeError } from "../../../src/channel/wire/error-body.js";
import { Op, readFrame, readHello, writeFrame } from "../../../src/channel/wire/frame.js";
import fc, { cases } from "../../fixtures/fast-check.js";
import { thrown } from "./thrown.js";

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
        const error = attempt(() => readError(body, "c"));
        if (error) expect(countValues(error.read)).toBeLessThanOrEqual(body.length + 16);
      }),
      { numRuns: cases(500) },
    );
  });

  test("is refused when it has more than 2^20 values", () => {
    const body = new Uint8Array(6 + (1 << 20) + 1);
    body.set([12, 255]);
    new DataView(body.buffer).setUint32(2, (1 << 20) + 1, true);
    expect(thrown(() => readError(body, "c"))).toBe("too-large 1");
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
