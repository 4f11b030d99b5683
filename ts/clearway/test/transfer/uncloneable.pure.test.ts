// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import { pathToUncloneable } from "../../src/transfer/uncloneable.js";

const f = (): void => {};
const knot: Record<string, unknown> = { a: 1 };
knot.self = knot;
knot.last = { f };

describe("the path to what structured clone refuses", () => {
  test.each<[name: string, value: unknown, path: string]>([
    ["a function", f, ""],
    ["a method", { b: { deep: [1, { onClick: f }] } }, ".b.deep[1].onClick"],
    ["a key that is no identifier", { "on-click": { "1a": f } }, '["on-click"]["1a"]'],
    ["a symbol", [[Symbol("x")]], "[0][0]"],
    ["a value of a map", new Map([["k", [f]]]), '.get("k")[0]'],
    ["a value of a map with an object as its key", new Map([[{}, f]]), ".get(…)"],
    ["a key of a map", { m: new Map([[f, 1]]) }, ".m (a key)"],
    ["a value of a set", { s: new Set([1, f]) }, ".s (a value of the set)"],
    ["a named property of an array", Object.assign([1], { named: f }), ".named"],
    ["the cause of an error", new Error("x", { cause: { f } }), ".cause.f"],
    ["an object that refers to itself", knot, ".last.f"],
    ["a promise", { later: Promise.resolve() }, ".later"],
    ["a weak map", { all: [new WeakMap()] }, ".all[0]"],
    ["a generator", { rows: (function* () {})() }, ".rows"],
    ["the first of two, in the order of structured clone", { a: { b: { c: f } }, d: f }, ".a.b.c"],
    [
      "a part after objects that can be cloned",
      { at: new Date(0), text: /a/, none: Object.create(null), bytes: new Uint8Array(8), f },
      ".f",
    ],
    ["nothing", { at: new Date(0), list: [[]], buffer: new ArrayBuffer(8) }, ""],
  ])("of %s", (_name, value, path) => {
    expect(pathToUncloneable(value)).toBe(path);
  });

  test("is empty for what lies behind 10,000 other parts, also of one array or map", () => {
    const many = Array.from({ length: 10_001 }, (_, at) => at);
    expect(pathToUncloneable([...many, f])).toBe("");
    expect(pathToUncloneable([many, f])).toBe("");
    expect(pathToUncloneable(new Map(many.map((at) => [at, f])))).toBe(".get(0)");
    expect(pathToUncloneable({ sparse: Object.assign([], { [10 ** 8]: f }) })).toBe(`.sparse[${10 ** 8}]`);
  });

  test("calls no getter, and ends at a proxy whose traps throw", () => {
    let calls = 0;
    const value = {
      get a() {
        calls++;
        return f;
      },
      b: new Proxy(
        {},
        {
          ownKeys() {
            throw new Error("trap");
          },
        },
      ),
    };
    expect(pathToUncloneable(value)).toBe(".b");
    expect(calls).toBe(0);
  });
});
