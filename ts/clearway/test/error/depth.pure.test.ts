// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import { checkDepth, depthMax } from "../../src/error/depth.js";
import { searchLimit } from "../../src/transfer/find-memory.js";
import { prepareResult } from "../../src/transfer/prepare.js";

class Box {
  constructor(readonly inner: unknown) {}
}

const wraps: Record<string, (inner: unknown) => object> = {
  array: (inner) => [inner],
  object: (inner) => ({ inner }),
  instance: (inner) => new Box(inner),
  set: (inner) => new Set([inner]),
  "map, by value": (inner) => new Map([[1, inner]]),
  "map, by key": (inner) => new Map([[inner, 1]]),
  error: (inner) => new Error("outer", { cause: inner }),
};

function nest(wrap: (inner: unknown) => object, depth: number): unknown {
  let value: unknown = 1;
  for (let at = 0; at < depth; at++) value = wrap(value);
  return value;
}

const refusal = expect.objectContaining({ code: "not-cloneable", message: expect.stringContaining(String(depthMax)) });

describe.each([
  ["checkDepth", checkDepth],
  ["prepareResult", (value: unknown) => void prepareResult(value)],
])("%s", (_name, check) => {
  test.each(Object.entries(wraps))("refuses a value nested deeper than the limit: %s", (_kind, wrap) => {
    check(nest(wrap, depthMax));
    expect(() => check(nest(wrap, depthMax + 1))).toThrow(refusal);
    expect(() => check(nest(wrap, 50_000))).toThrow(refusal);
  });

  test("refuses a linked list, also when its nodes are in an array: structured clone follows the links", () => {
    const nodes = Array.from({ length: depthMax * 2 }, (): { next?: object } => ({}));
    for (const [at, node] of nodes.entries()) if (at > 0) nodes[at - 1]!.next = node;
    expect(() => check(nodes)).toThrow(refusal);
    check(nodes.reverse());
  });

  test("refuses a deep value that comes after a large number of values", () => {
    const wide: unknown[] = Array.from({ length: searchLimit * 2 }, (_, at) => ({ at }));
    check(wide);
    expect(() => check([...wide, nest((inner) => [inner], depthMax)])).toThrow(refusal);
  });

  test("formats the stacks of a long chain of causes only down to the limit", () => {
    let formatted = 0;
    const stack = { get: () => `stack ${++formatted}` };
    const chain = nest((cause) => Object.defineProperty(new Error("outer", { cause }), "stack", stack), 5_000);
    expect(() => check(chain)).toThrow(refusal);
    expect(formatted).toBeLessThan(depthMax * 2);
  });

  test("accepts cycles and wide values", () => {
    const cycle: unknown[] = [];
    cycle.push(cycle, { cycle }, new Map([[cycle, cycle]]));
    check(cycle);
    check(Array.from({ length: 3_000 }, () => [{}, new Uint8Array(8), new Set([cycle])]));
  });
});
