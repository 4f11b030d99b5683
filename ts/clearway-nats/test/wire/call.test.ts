// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError } from "clearway/remote";
import { expect, test } from "vitest";
import {
  decodeCall,
  decodeReply,
  encodeCall,
  encodeFailure,
  encodeResult,
  type WireCallOptions,
  wireCodec,
} from "../../src/wire/call.js";
import fc from "../fixtures/fast-check.js";

const codec = wireCodec();

const plain = fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.parse(JSON.stringify(value)) as unknown);
const amount = fc.double({ min: 0, noNaN: true });
const optional = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(value, { nil: undefined });

const options: fc.Arbitrary<WireCallOptions> = fc.record({
  timeoutMs: optional(amount),
  deadlineMs: optional(amount),
  key: optional(fc.string()),
  priority: optional(fc.double({ noNaN: true, noDefaultInfinity: true }).map((each) => each + 0)),
  progress: optional(fc.constant(true)),
  window: optional(fc.record({ items: fc.nat(), bytes: amount })),
  inputs: fc.constant(undefined),
});

test("a decoded call equals the encoded one", () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1 }), fc.array(plain), optional(options), (task, args, given) => {
      const call = decodeCall(codec, encodeCall(codec, { task, args, options: given }));
      expect(call).toEqual({ task, args, options: given });
    }),
  );
});

test("the decoder of calls throws only typed errors, for any bytes", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      try {
        decodeCall(codec, bytes);
      } catch (reason) {
        expect(reason).toBeInstanceOf(ClearwayError);
      }
    }),
    { numRuns: 2_000 },
  );
});

test("the decoders throw only typed errors, for a message with any changed byte", () => {
  const call = encodeCall(codec, {
    task: "resize",
    args: [{ width: 10, image: new Uint8Array(20), list: [1, null, "ä"] }, 0.5],
    options: { timeoutMs: 5, key: "k", window: { items: 3, bytes: 10 }, inputs: [0, 1] },
  });
  const failure = encodeFailure(codec, new RangeError("no", { cause: new AggregateError([1, new Error("two")]) }));
  fc.assert(
    fc.property(fc.boolean(), fc.nat(), fc.nat({ max: 255 }), (isCall, at, byte) => {
      const bytes = (isCall ? call : failure).slice();
      bytes[at % bytes.length] = byte;
      try {
        if (isCall) decodeCall(codec, bytes);
        else decodeReply(codec, bytes);
      } catch (reason) {
        expect(reason).toBeInstanceOf(ClearwayError);
      }
    }),
    { numRuns: 5_000 },
  );
});

test("a truncated message throws a typed error", () => {
  const call = encodeCall(codec, { task: "resize", args: [new Uint8Array(20)], options: { key: "k" } });
  for (let length = 0; length < call.length; length++)
    expect(() => decodeCall(codec, call.subarray(0, length))).toThrow(ClearwayError);
});

test("a result crosses with its value", () => {
  fc.assert(
    fc.property(plain, (value) => {
      expect(decodeReply(codec, encodeResult(codec, value))).toEqual({ ok: true, value });
    }),
  );
});

test("any thrown value crosses, in at most the given number of bytes", () => {
  const thrown = fc.oneof(
    fc.anything(),
    fc.string({ maxLength: 20_000, unit: "binary" }).map((text) => new Error(text)),
    fc.string({ maxLength: 3_000, unit: "grapheme" }).map((text) => new ClearwayError("timeout", text)),
  );
  fc.assert(
    fc.property(thrown, fc.integer({ min: 1_000, max: 5_000 }), (value, bytesMax) => {
      const bytes = encodeFailure(codec, value, bytesMax);
      expect(bytes.length).toBeLessThanOrEqual(bytesMax);
      expect(decodeReply(codec, bytes).ok).toBe(false);
    }),
    { numRuns: 50 },
  );
});

test("a thrown value that is too large keeps its class, its code and the beginning of its message", () => {
  const bytes = encodeFailure(codec, new ClearwayError("timeout", `slow ${"x".repeat(100_000)}`), 1_000);
  expect(decodeReply(codec, bytes)).toMatchObject({
    ok: false,
    error: { name: "ClearwayError", code: "timeout", message: expect.stringMatching(/^slow x+…$/) },
  });
});

test("a thrown value whose getters throw still crosses", () => {
  const hostile = Object.defineProperty(new Error("mine"), "detail", {
    enumerable: true,
    get() {
      throw new Error("no");
    },
  });
  expect(decodeReply(codec, encodeFailure(codec, hostile))).toMatchObject({ ok: false, error: { message: "mine" } });
});
