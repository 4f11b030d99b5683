// SPDX-License-Identifier: MIT OR Apache-2.0
import { expect, test } from "vitest";
import { wireCodec } from "../../src/wire/call.js";
import { weightOf } from "../../src/wire/weight.js";

const codec = wireCodec();
const many = 1_000;
const times = (make: (index: number) => unknown): unknown[] => Array.from({ length: many }, (_, index) => make(index));

// The memory that V8 took for each value, in bytes, measured when this test was written.
test.each<[string, number, (index: number) => unknown]>([
  ["empty objects", 66, () => ({})],
  ["empty lists", 42, () => []],
  ["lists of a value", 194, () => [null]],
  ["maps", 194, (index) => new Map([[index, 1]])],
  ["empty lists of bytes", 194, () => new Uint8Array(0)],
  ["texts", 34, (index) => `k${index}`],
  ["objects with keys of their own", 187, (index) => ({ [`k${index}`]: null })],
  ["big integers", 42, () => 2n ** 70n],
])("the weight and the bytes of %s are at least half of their memory", (_name, each, make) => {
  const bytes = codec.encode(times(make));
  const weight = bytes.length + weightOf(codec.decode(bytes));
  expect(weight).toBeGreaterThan((each * many) / 2);
});

test("numbers, and bytes in one list, weigh little more than their bytes", () => {
  expect(weightOf(new Uint8Array(1e6))).toBeLessThan(1_000);
  expect(weightOf([new Float64Array(1e6), "x".repeat(1e6)])).toBeLessThan(1_000);
  expect(weightOf(times((index) => index))).toBeLessThan(many * 10);
});

test("values in a circle, which only an extension can make, have a weight", () => {
  const circle: unknown[] = [];
  circle.push(circle, circle);
  expect(weightOf(circle)).toBeGreaterThan(0);
});
