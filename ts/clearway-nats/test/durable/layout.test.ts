// SPDX-License-Identifier: MIT OR Apache-2.0
import fc from "fast-check";
import { describe, expect, inject, test } from "vitest";
import { joinOutcomes, readCall, readOutcomes, writeCall, writeOutcome } from "../../src/durable/layout.js";
import { objectName } from "../../src/durable/names.js";

const inline = {
  id: "call-1",
  caller: "me",
  callback: "clearway.callback.x",
  cancellable: true,
  content: { bytes: Uint8Array.of(1, 2, 3) },
};
const object = {
  id: "a".repeat(128),
  caller: "",
  callback: "",
  cancellable: false,
  content: { object: objectName("call-1"), objectBytes: 2 ** 40 },
};

describe("a call's envelope", () => {
  test.each([inline, object])("is read as it was written", (call) => {
    expect(readCall(writeCall(call))).toEqual(call);
  });

  test("is refused when it is cut before its content", () => {
    const bytes = writeCall(object);
    for (let length = 0; length < bytes.length - 1; length++) {
      expect(() => readCall(bytes.subarray(0, length))).toThrow(expect.objectContaining({ code: "protocol" }));
    }
  });

  test.each([
    ["another version", [2, 0, 1, 97, 0, 0]],
    ["an unknown form", [1, 9, 1, 97, 0, 0]],
    ["no id", [1, 0, 0, 0, 0]],
    ["an id with a dot", [1, 0, 3, 97, 46, 97, 0, 0]],
    ["a caller with a wildcard", [1, 0, 1, 97, 1, 42, 0]],
    ["an object's size that is negative", [1, 1, 1, 97, 0, 0, 0, 0, 0, 0, 0, 0, 0xf0, 0xbf]],
  ])("is refused with %s", (_what, bytes) => {
    expect(() => readCall(Uint8Array.from(bytes))).toThrow(expect.objectContaining({ code: "protocol" }));
  });

  test("throws nothing but protocol for any bytes", () => {
    const seed = inject("seed");
    const property = fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => {
      for (const read of [() => readCall(bytes), () => [...readOutcomes(bytes)]]) {
        try {
          read();
        } catch (reason) {
          expect(reason).toMatchObject({ code: "protocol" });
        }
      }
    });
    fc.assert(property, { seed });
  });
});

describe("outcomes", () => {
  const first = { id: "call-1", content: { bytes: new Uint8Array(300).fill(9) } };
  const second = { id: "call-2", content: { object: objectName("call-2"), objectBytes: 12 } };

  test("are read from a joined message in order", () => {
    expect([...readOutcomes(joinOutcomes([writeOutcome(first), writeOutcome(second)]))]).toEqual([first, second]);
  });

  test("before a malformed one are read", () => {
    const bytes = joinOutcomes([writeOutcome(first), Uint8Array.of(255, 255, 255, 255, 0)]);
    const read = readOutcomes(bytes);
    expect(read.next().value).toEqual(first);
    expect(() => read.next()).toThrow(expect.objectContaining({ code: "protocol" }));
  });

  test("of no message are none", () => {
    expect([...readOutcomes(new Uint8Array(0))]).toEqual([]);
  });
});
