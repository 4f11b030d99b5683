// SPDX-License-Identifier: MIT OR Apache-2.0
import {
  type Codec,
  jsonMessageCodec,
  jsonMethodCodec,
  type MethodReply,
  standardMessageCodec as standard,
  standardMethodCodec,
  stringCodec,
} from "clearway/channel";
import { describe, expect, test } from "vitest";
import fc, { cases } from "../../fixtures/fast-check.js";
import { hex, thrown } from "./thrown.js";

const number = fc.oneof(fc.integer(), fc.maxSafeInteger(), fc.double(), fc.constantFrom(-0, 2 ** 31, 2 ** 53, 2 ** 63));
const text = fc.oneof(fc.string({ unit: "binary" }), fc.string({ maxLength: 300 }), fc.constant("__proto__"));
const list = fc.oneof(
  fc.uint8Array(),
  fc.int32Array(),
  fc.float32Array(),
  fc.float64Array(),
  fc.bigInt64Array(),
  fc.uint8Array({ minLength: 250, maxLength: 260 }),
);
const scalar = fc.oneof(fc.constant(null), fc.boolean(), number, fc.bigInt(), text, list);

/** Generates every value that the standard codec accepts. Map keys are scalars, so that maps compare by value. */
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    scalar,
    fc.array(tie("value"), { maxLength: 8 }),
    fc.dictionary(text, tie("value"), { maxKeys: 8, noNullPrototype: false }),
    fc
      .array(fc.tuple(fc.oneof(fc.integer(), text, fc.boolean()), tie("value")), { maxLength: 8 })
      .map((e) => new Map(e)),
  ),
}));

/** Returns the value as a decoder returns it: a safe-integer bigint becomes a number, a Map with only text keys an object. */
function asRead(of: unknown): unknown {
  if (typeof of === "bigint") return Number.isSafeInteger(Number(of)) ? Number(of) : of;
  if (of === null || typeof of !== "object" || ArrayBuffer.isView(of)) return of;
  if (Array.isArray(of)) return of.map(asRead);
  const entries = of instanceof Map ? [...of] : Object.entries(of);
  const read = entries.map(([key, each]) => [key, asRead(each)] as const);
  if (!read.every(([key]) => typeof key === "string")) return new Map(read);
  return Object.setPrototypeOf(Object.fromEntries(read), null);
}

describe("any value", () => {
  test("decodes to itself or to its canonical form, from copied and from owned bytes", () => {
    fc.assert(
      fc.property(value, (each) => {
        const message = standard.encode(each);
        expect(standard.decode(message)).toEqual(asRead(each));
        expect(standard.decode(message, { owned: true })).toEqual(asRead(each));
      }),
      { numRuns: cases(400) },
    );
  });

  test("is encoded to the same bytes by encodeInto at any offset, and no other bytes change", () => {
    fc.assert(
      fc.property(value, fc.nat({ max: 9 }), (each, offset) => {
        const message = standard.encode(each);
        const place = new Uint8Array(offset + message.length + 3).fill(0xee);
        expect(standard.encodeInto(each, place, offset)).toBe(message.length);
        expect(hex(place)).toBe("ee".repeat(offset) + hex(message) + "eeeeee");
      }),
    );
  });

  test("is encoded to the same bytes again after a lossless codec has decoded it", () => {
    const lossless = standard.with({ lossless: true });
    fc.assert(
      fc.property(value, (each) => {
        const message = lossless.encode(each);
        expect(hex(lossless.encode(lossless.decode(message)))).toBe(hex(message));
      }),
    );
  });

  test("fails as truncated when its message is cut anywhere, and the offset is inside the cut message or at its end", () => {
    const whole = standard.with({ emptyNull: false });
    fc.assert(
      fc.property(value, fc.nat(), (each, cut) => {
        const message = whole.encode(each);
        const size = cut % message.length;
        const [code, offset] = thrown(() => whole.decode(message.subarray(0, size))).split(" ");
        // A text cut inside a character is also `truncated`: the decoder checks a size before it reads the content.
        expect(code).toBe("truncated");
        expect(Number(offset)).toBeLessThanOrEqual(size);
      }),
      { numRuns: cases(400) },
    );
  });

  test("is unchanged after a method call and a method reply", () => {
    fc.assert(
      fc.property(text, value, (method, args) => {
        const { call, reply } = standardMethodCodec;
        expect(call.decode(call.encode({ method, args }))).toEqual({ method, args: asRead(args) });
        const error: MethodReply = { kind: "error", code: method, message: null, details: args, stack: method };
        expect(reply.decode(reply.encode(error))).toEqual({ ...error, details: asRead(args) });
      }),
    );
  });
});

test("any JSON value and any text are unchanged after their codecs encode and decode them", () => {
  fc.assert(
    fc.property(fc.jsonValue(), text, (each, words) => {
      expect(back(jsonMessageCodec, each)).toEqual(JSON.parse(JSON.stringify(each)));
      expect(back(stringCodec, words)).toBe(words);
    }),
  );
});

function back<T>(codec: Codec<T>, each: T): T {
  return codec.decode(codec.encode(each));
}

describe("any bytes", () => {
  const random = fc.uint8Array({ maxLength: 64 });
  // Generates bytes that a decoder reads far into: type bytes, small sizes and the prefixes of long sizes.
  const likely = fc.array(fc.oneof({ weight: 6, arbitrary: fc.nat({ max: 15 }) }, fc.constantFrom(0x61, 0xfe, 0xff)), {
    maxLength: 200,
  });
  const changed = fc.tuple(value, fc.nat(), fc.nat({ max: 255 })).map(([each, at, byte]) => {
    const message = standardMethodCodec.reply.encode({ kind: "success", value: each });
    message[at % message.length] = byte;
    return message;
  });
  const messages = fc.oneof(random, likely.map(Uint8Array.from.bind(Uint8Array)), changed);
  const codecs: [string, Codec<unknown>][] = [
    ["standard", standard.with({ lossless: true })],
    ["standard call", standardMethodCodec.call],
    ["standard reply", standardMethodCodec.reply],
    ["json", jsonMessageCodec],
    ["json call", jsonMethodCodec.call],
    ["json reply", jsonMethodCodec.reply],
  ];

  test.each(codecs)(
    "decode with the %s codec to a value, or fail with a typed error whose offset is inside them",
    (_, codec) => {
      fc.assert(
        fc.property(messages, fc.boolean(), (message, owned) => {
          const before = hex(message);
          const result = outcome(() => ({ read: codec.decode(message, { owned }) }));
          if (typeof result === "string") {
            expect(result).toMatch(/^[a-z0-9-]+ \d+$/);
            expect(Number(result.split(" ")[1])).toBeLessThanOrEqual(message.length);
          }
          expect(hex(message)).toBe(before);
        }),
        { numRuns: cases(1000) },
      );
    },
  );

  test("that look like JSON decode to the value of JSON.parse, or fail with a typed error when JSON.parse throws", () => {
    const pieces = fc.constantFrom(
      "[",
      "]",
      "{",
      "}",
      ",",
      ":",
      '"',
      "a",
      "\\",
      "u12",
      "1",
      "-",
      ".",
      "e",
      "true",
      " ",
    );
    fc.assert(
      fc.property(fc.array(pieces, { minLength: 1, maxLength: 12 }), (parts) => {
        const json = parts.join("");
        const message = new TextEncoder().encode(json);
        const expected = outcome(
          () => ({ read: JSON.parse(json) }),
          () => "refused",
        );
        const result = outcome(() => ({ read: jsonMessageCodec.decode(message) }));
        if (typeof expected === "object") expect(result).toEqual(expected);
        else expect(result).toBe("malformed 0");
      }),
      { numRuns: cases(2000) },
    );
  });

  test("that announce billions of items are refused before memory is allocated for the items", () => {
    // 40 nested lists, each announcing four billion items. Allocating them would take 1.3 TB.
    for (const tag of [8, 9, 10, 11, 12, 13, 14, 7, 5]) {
      const message = new Uint8Array(400).fill(0);
      for (let at = 0; at < 240; at += 6) message.set([tag === 13 ? 13 : 12, 0xff, 90, 0, 0, 0], at);
      message.set([tag, 0xff, 0xff, 0xff, 0xff, 0xff], 240);
      expect(thrown(() => standard.decode(message))).toMatch(/^(truncated|unknown-tag) \d+$/);
    }
  });
});

function outcome<T>(run: () => T, refused: (run: () => T) => string = thrown): T | string {
  try {
    return run();
  } catch (error) {
    return refused(() => {
      throw error;
    });
  }
}
