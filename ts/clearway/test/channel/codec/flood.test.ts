// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import { encodeWithin } from "../../../src/channel/codec/codec.js";
import { KeyGuard } from "../../../src/channel/codec/read-value.js";
import { inlined, standardMessageCodec as standard } from "../../../src/channel/codec/standard.js";
import { attachmentTag, Tag } from "../../../src/channel/codec/tags.js";
import { binaryCodec } from "../../../src/channel/codec/text.js";
import { connect } from "../../../src/channel/endpoint/endpoint.js";
import { memoryPair } from "../../../src/channel/transport/memory.js";
import { Op, readFrame, writeFrame, writeHello } from "../../../src/channel/wire/frame.js";
import { Log } from "../transports/contract.js";

/** Returns a map with these keys as bytes. Does not build a `Map`, which such keys make slow. */
function mapOf(keys: readonly (number | bigint)[]): Uint8Array {
  const parts = keys.map((key) => standard.encode(key));
  const bytes = new Uint8Array(6 + parts.reduce((sum, { length }) => sum + length + 1, 0));
  bytes.set([Tag.map, 0xff]);
  new DataView(bytes.buffer).setUint32(2, keys.length, true);
  let at = 6;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length + 1; // and null, the value
  }
  return bytes;
}

const indices = Array.from({ length: 5000 }, (_, index) => index);

// The hash that V8 computes for int32 numbers.
function intHash(key: number): number {
  let hash = (~key + (key << 15)) | 0;
  hash ^= hash >>> 12;
  hash = (hash + (hash << 2)) | 0;
  hash ^= hash >>> 4;
  hash = Math.imul(hash, 2057);
  return hash ^ (hash >>> 16);
}

function chosenIntegers(): number[] {
  const found: number[] = [];
  for (let key = 0; found.length < 2000; key++) if ((intHash(key) & 0x7ff) === 0) found.push(key);
  return found;
}

describe("a map whose keys were chosen to collide", () => {
  test.each<[string, () => (number | bigint)[]]>([
    ["big integers with equal lowest 64 bits", () => indices.map((n) => BigInt(n + 1) << 64n)],
    ["negative big integers with equal lowest 64 bits", () => indices.map((n) => -(BigInt(n + 1) << 64n) - 7n)],
    ["int32s", chosenIntegers],
  ])("is refused after 64 colliding keys among more than 256: %s", (_, keys) => {
    expect(() => standard.decode(mapOf(keys()))).toThrowError(expect.objectContaining({ code: "too-large" }));
    expect(() => standard.with({ lossless: true }).decode(mapOf(keys()))).toThrow("too many keys that fall together");
  });

  test("is decoded while it has at most 256 keys", () => {
    const keys = indices.slice(0, 256).map((n) => BigInt(n + 1) << 64n);
    expect((standard.decode(mapOf(keys)) as Map<unknown, unknown>).size).toBe(256);
  });
});

describe("a map with many keys", () => {
  const kinds: Record<string, (n: number) => number | bigint> = {
    "in a row": (n) => n,
    negative: (n) => -n,
    "multiples of 2^16": (n) => n * 0x1_0000,
    "multiples of 2^40": (n) => n * 2 ** 40,
    halves: (n) => n + 0.5,
    tenths: (n) => n / 10,
    powers: (n) => 1.001 ** n,
    "times in ms": (n) => 1_700_000_000_000 + n * 1000,
    int64s: (n) => (BigInt(n) << 32n) + 0x7000_0000_0000_0000n,
    "big integers": (n) => (BigInt(n) << 64n) + BigInt(n) * 0x9e37_79b9_7f4a_7c15n,
  };

  test.each(Object.entries(kinds))("is decoded for every kind of key: %s", (_, key) => {
    for (const count of [300, 5000]) {
      const keys = Array.from({ length: count }, (__, n) => key(n + 1));
      const read = standard.decode(standard.encode(new Map(keys.map((each) => [each, null])))) as Map<unknown, unknown>;
      expect(read.size).toBe(new Set(keys).size);
    }
  });

  test.each(Object.entries(kinds))("is never refused as a map with chosen keys, at any size: %s", (_, key) => {
    const guard = new KeyGuard(200_000);
    for (let n = 1; n <= 200_000; n++) if (guard.countKey(key(n))) throw new Error(`at ${n}`);
  });

  test("is decoded when one key repeats: its last value wins", () => {
    const read = standard.decode(mapOf(Array.from({ length: 2000 }, () => 7))) as Map<unknown, unknown>;
    expect([...read]).toEqual([[7, null]]);
  });
});

test("a list that is longer than the limit of the message is refused before its first value is read", () => {
  const list = new Array(10_000);
  let reads = 0;
  Object.defineProperty(list, 0, { get: () => reads++ });
  expect(() => encodeWithin(standard, list, 9_999)).toThrowError(expect.objectContaining({ code: "too-large" }));
  expect(reads).toBe(0);
  expect(encodeWithin(standard, list, 10_100)).toHaveLength(1 + 3 + 5 + 9_999);
  expect(reads).toBe(1);
});

describe("an attachment that is named repeatedly", () => {
  const attachment = new Uint8Array(1000).fill(5);
  const naming = (times: number, tag: number): Uint8Array =>
    new Uint8Array([Tag.list, times, ...Array.from({ length: times }, () => [attachmentTag, tag, 0]).flat()]);

  test("is copied into the message while there is room, and is refused before a copy that has no room", () => {
    expect(inlined(naming(3, Tag.uint8List), [attachment], 3000).length).toBeGreaterThan(3000);
    expect(() => inlined(naming(4, Tag.uint8List), [attachment], 3999)).toThrowError(
      expect.objectContaining({ code: "too-large", offset: 12 }),
    );
  });

  test("is one memory for all lists that name it, also when it is not aligned for their elements", async () => {
    const [ta, tb] = memoryPair();
    const end = connect(ta);
    tb.send(writeHello({ version: 1, wires: ["clearway"], frameBytesMax: 1 << 20, nameBytesMax: 255, callsMax: 9 }));
    const got: unknown[] = [];
    (await end).messages("m").handle((value) => void got.push(value));
    const parts = { op: Op.post, name: new TextEncoder().encode("m"), body: naming(100, Tag.float64List) };
    const frame = writeFrame({ ...parts, inlineAttachments: [attachment] });
    // Simulates a transport that delivers a message at any offset of a buffer.
    const shifted = new Uint8Array(frame.length + 1);
    shifted.set(frame, 1);
    tb.send(shifted.subarray(1));
    await new Promise((resolve) => setTimeout(resolve));
    const lists = got[0] as Float64Array[];
    expect([lists.length, lists[0]!.length, new Set(lists.map(({ buffer }) => buffer)).size]).toEqual([100, 125, 1]);
    (await end).terminate();
  });

  test("fails the call before a handler that takes only bytes runs, when the expanded message is too large", async () => {
    const [ta, tb] = memoryPair({ frameBytesMax: 10_000 });
    const end = connect(ta);
    const log = new Log();
    tb.open(log);
    tb.send(writeHello({ version: 1, wires: ["clearway"], frameBytesMax: 10_000, nameBytesMax: 255, callsMax: 9 }));
    let ran = 0;
    (await end).messages("m", binaryCodec).handle(() => {
      ran++;
      return undefined;
    });
    const parts = { op: Op.call, id: 1, name: new TextEncoder().encode("m"), body: naming(200, Tag.uint8List) };
    tb.send(writeFrame({ ...parts, inlineAttachments: [attachment] }));
    await log.count(2);
    expect([ran, readFrame(log.frames[1]!, [])!.a]).toEqual([0, 1]);
    expect(await (await end).stats().handling).toBe(0);
    (await end).terminate();
  });
});
