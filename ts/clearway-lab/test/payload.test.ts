// SPDX-License-Identifier: MIT OR Apache-2.0
import { float64, standardMessageCodec } from "clearway/channel";
import { describe, expect, test } from "vitest";
import { payloadOf, plainValue, same } from "../src/channel/payload.js";

const bytesOf = (name: string) => standardMessageCodec.encode(payloadOf(name, float64)).length;

describe("payloads", () => {
  test("have the sizes in their names", () => {
    expect(bytesOf("1000 items")).toBe(14_214);
    expect(bytesOf("2 KB")).toBeGreaterThan(1800);
    expect(bytesOf("2 KB")).toBeLessThan(2200);
    expect([bytesOf("4 KB"), bytesOf("1 MB")]).toEqual([4096 + 4, 2 ** 20 + 6]);
  });

  test("with an unknown name are refused with the list of names", () => {
    expect(() => payloadOf("3 KB")).toThrow(/payload=3 KB \(null, int,.*1 MB\)/);
  });

  test("without typed arrays survive JSON unchanged", () => {
    const plain = plainValue(payloadOf("2 KB"));
    expect(same(plain, JSON.parse(JSON.stringify(plain)))).toBe(true);
  });
});

describe("comparing a returned value", () => {
  const mixed = () => payloadOf("2 KB") as Record<string, unknown>;

  test("finds equal parts equal, whatever their prototypes", () => {
    expect(same(mixed(), standardMessageCodec.decode(standardMessageCodec.encode(mixed())))).toBe(true);
    expect(same({ a: Uint8Array.of(1, 2) }, Object.assign(Object.create(null), { a: Buffer.from([1, 2]) }))).toBe(true);
  });

  test.each([
    ["a number differs", { ...mixed(), id: 1 }],
    ["a key is missing", Object.fromEntries(Object.entries(mixed()).slice(1))],
    ["a key has another name", { ...Object.fromEntries(Object.entries(mixed()).slice(1)), identity: 123_456 }],
    ["a byte differs", { ...mixed(), bytes: new Uint8Array(512) }],
    ["a list became an array", { ...mixed(), ints: Array.from({ length: 64 }, (_, at) => at * 1000) }],
    ["a list became wider", { ...mixed(), ints: Float64Array.from({ length: 64 }, (_, at) => at * 1000) }],
    ["null became undefined", { ...mixed(), none: undefined }],
  ])("finds a difference when %s", (_, other) => {
    expect(same(mixed(), other)).toBe(false);
    expect(same(other, mixed())).toBe(false);
  });
});
