// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import { weightMax, weightOf } from "../../src/stream/producer.js";

const row = { id: 1, x: 0.5, name: "row" };
const rows = (count: number): object[] => Array.from({ length: count }, () => ({ ...row }));
const ring: unknown[] = [];
ring.push(ring);

describe("the weight of a stream's value", () => {
  test.each([
    ["a number", 1],
    ["a short text", "text"],
    ["a function", () => 1],
    ["a small object", row],
    ["binary memory, which the transport counts", new Uint8Array(100_000)],
    ["an object with binary memory", { bytes: new Float64Array(10_000), buffer: new ArrayBuffer(5000) }],
    [
      "an object that cannot be read",
      {
        rows: rows(1000),
        get fails() {
          throw new Error("no");
        },
      },
    ],
    ["a revoked proxy", revoked()],
    ["collections whose own iterators never end", [endless([1]), endless(new Map([[1, 2]])), endless(new Set([1]))]],
  ])("is 0 for %s", (_name, value) => {
    expect(weightOf(value)).toBe(0);
  });

  test.each([
    ["a long text", "x".repeat(5000), 5000],
    ["texts in an object", { a: "x".repeat(5000) }, 5064],
    ["an array of numbers", Array(1000).fill(1), 64_000],
    ["an array of objects", rows(100), 100 * (4 * 64 + 3)],
    ["a map", new Map(rows(50).map((each, at) => [at, each])), 50 * (5 * 64 + 3)],
    ["a set", new Set(Array.from({ length: 100 }, (_, at) => at)), 6400],
    ["a huge text, at most the default window", "x".repeat(3 << 20), weightMax],
    ["a huge array, at most the default window", Array(1e6).fill(1), weightMax],
    ["a value that contains itself", ring, weightMax],
  ])("counts 64 bytes for each node and the length of each text: %s", (_name, value, bytes) => {
    expect(weightOf(value)).toBe(bytes);
  });
});

test("weighing an object with many properties reads at most 10,000 of them before it stops", () => {
  let reads = 0;
  const get = (): number => ++reads;
  const wide = Object.defineProperties(
    {},
    Object.fromEntries(Array.from({ length: 30_000 }, (_, at) => [`p${at}`, { enumerable: true, get }])),
  );
  expect(weightOf(wide)).toBe(weightMax);
  expect(reads).toBe(10_001);
});

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

function endless(collection: object): object {
  const forever = function* (): Generator<number> {
    for (;;) yield 1;
  };
  const forEach = (): void => {
    throw new Error("not to be called");
  };
  return Object.assign(collection, { [Symbol.iterator]: forever, forEach });
}
