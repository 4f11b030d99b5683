// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError } from "clearway";
import { describe, expect, test } from "vitest";
import { ClearwayError as OwnError } from "../../src/error/clearway-error.js";
import { checkDepth, depthMax } from "../../src/error/depth.js";
import { decodeError, encodeError } from "../../src/error/wire.js";
import { isWireError } from "../../src/error/wire-check.js";
import { searchLimit } from "../../src/transfer/find-memory.js";
import { prepareResult } from "../../src/transfer/move.js";
import fc from "../fixtures/fast-check.js";

/** Encodes, clones and decodes a thrown value, as a port does. */
const cross = (thrown: unknown, callerStack?: string): unknown =>
  decodeError(structuredClone(encodeError(thrown)), callerStack);

/** An error with any properties. */
type Loose = Error & Record<string, unknown>;

describe("an error that is encoded and decoded", () => {
  test("keeps its class, name, message and stack", () => {
    for (const Type of [Error, TypeError, RangeError, SyntaxError, ReferenceError, EvalError, URIError]) {
      const error = new Type("what");
      const got = cross(error) as Error;
      expect(got).toBeInstanceOf(Type);
      expect([got.name, got.message, got.stack]).toEqual([error.name, "what", error.stack]);
    }
  });

  test("keeps a subclass's name, set or not, and its nearest built-in class", () => {
    class Unnamed extends RangeError {}
    class Named extends TypeError {
      override name = "Special";
    }
    expect(cross(new Unnamed("m"))).toMatchObject({ name: "Unnamed", message: "m" });
    expect(cross(new Unnamed("m"))).toBeInstanceOf(RangeError);
    expect(cross(new Named("m"))).toMatchObject({ name: "Special" });
    expect(cross(new Named("m"))).toBeInstanceOf(TypeError);
  });

  test("keeps code and other own properties", () => {
    const error = Object.assign(new Error("m"), { code: "EPIPE", errno: -32, detail: { at: [1, new Map([[1, 2]])] } });
    expect(cross(error)).toMatchObject({ code: "EPIPE", errno: -32, detail: { at: [1, new Map([[1, 2]])] } });
  });

  test("describes properties that cannot be cloned, and getters that throw", () => {
    const error = Object.assign(new Error("m"), { retry: () => 1, tag: Symbol("s"), deep: { f() {} } });
    Object.defineProperty(error, "bad", {
      enumerable: true,
      get: () => {
        throw new Error("no");
      },
    });
    const got = cross(error) as Loose;
    expect(got["retry"]).toContain("function retry");
    expect(got["tag"]).toContain("Symbol(s)");
    expect(got["deep"]).toContain("not cloneable");
    expect(got["bad"]).toContain("getter threw");
  });

  test("keeps an own property called __proto__", () => {
    const error = new Error("m");
    Object.defineProperty(error, "__proto__", { value: { polluted: true }, enumerable: true });
    const got = cross(error) as Loose;
    expect(Object.getOwnPropertyDescriptor(got, "__proto__")?.value).toEqual({ polluted: true });
    expect(Object.getPrototypeOf(got)).toBe(Error.prototype);
  });

  test("keeps its chain of causes", () => {
    const root = Object.assign(new TypeError("root"), { code: "E1" });
    const got = cross(new Error("top", { cause: new RangeError("middle", { cause: root }) })) as Error;
    expect(got.cause).toBeInstanceOf(RangeError);
    expect((got.cause as Error).cause).toMatchObject({ name: "TypeError", message: "root", code: "E1" });
    expect((cross(new Error("top", { cause: "words" })) as Error).cause).toBe("words");
    expect((cross(new Error("top", { cause: null })) as Error).cause).toBeNull();
  });

  test("keeps the errors of an AggregateError", () => {
    const got = cross(new AggregateError([new RangeError("a"), "b", null], "m")) as AggregateError;
    expect(got).toBeInstanceOf(AggregateError);
    expect(got.message).toBe("m");
    expect(got.errors).toEqual([new RangeError("a"), "b", null]);
    expect(got.errors[0]).toBeInstanceOf(RangeError);
  });

  test("stays a DOMException, with its legacy code", () => {
    const got = cross(new DOMException("stop", "AbortError")) as DOMException;
    expect(got).toBeInstanceOf(DOMException);
    expect([got.name, got.message, got.code]).toEqual(["AbortError", "stop", 20]);
  });

  test("stays a ClearwayError", () => {
    const got = cross(new OwnError("timeout", "late", { cause: new Error("why") })) as OwnError;
    expect(got).toBeInstanceOf(OwnError);
    expect([got.name, got.code, (got.cause as Error).message]).toEqual(["ClearwayError", "timeout", "why"]);
    expect(new ClearwayError("timeout", "late")).toMatchObject({ name: "ClearwayError", code: "timeout" });
  });

  test("may be a value of any type", () => {
    for (const thrown of [undefined, null, 0, -0, "text", true, 10n, { a: [1] }]) expect(cross(thrown)).toEqual(thrown);
    expect(cross(() => 1)).toContain("not cloneable");
    expect(cross(Symbol("s"))).toContain("Symbol(s)");
  });

  test("may be its own cause, or hold itself many times", () => {
    const loop = new Error("loop") as Loose;
    loop.cause = loop;
    expect((cross(loop) as Error).message).toBe("loop");
    const errors: unknown[] = [];
    const many = new AggregateError([], "many");
    for (let at = 0; at < 100; at++) errors.push(many);
    many.errors = errors;
    expect((cross(many) as Error).message).toBe("many");
  });

  test("is refused if it names errors twice, however few bytes it has", () => {
    const each = { base: "AggregateError", name: "Error", message: "", stack: "", props: [] };
    const plain = { ...each, cause: { ...each }, errors: [{ ...each }, { value: 1 }] };
    expect(isWireError(plain)).toBe(true);
    let wire: object = plain;
    for (let level = 0; level < 20; level++) wire = { ...each, errors: [wire, wire] };
    expect(isWireError(structuredClone(wire))).toBe(false);
    const loop: Record<string, unknown> = { ...each };
    loop["cause"] = loop;
    expect(isWireError(loop)).toBe(false);
  });

  test("is encoded even when any of its properties throws", () => {
    const boom = (): never => {
      throw new Error("boom");
    };
    const cause = new Error("m");
    Object.defineProperty(cause, "cause", { get: boom });
    const message = new Error("m");
    Object.defineProperty(message, "message", { get: boom });
    const errors = new AggregateError([], "m");
    Object.defineProperty(errors, "errors", { get: boom });
    const noList = new AggregateError([], "m") as unknown as Loose;
    noList["errors"] = 5;
    const type = new Error("m");
    Object.defineProperty(type, "constructor", { get: boom });
    const keys = new Proxy(new Error("m"), { ownKeys: boom });
    const all = new Proxy(new Error("m"), { get: boom, has: boom, ownKeys: boom, getPrototypeOf: boom });
    const odd = Object.assign(new Error("m"), { name: 5, stack: { not: "text" } });
    const bare = new Error("m");
    Object.setPrototypeOf(bare, Object.create(Error.prototype, { constructor: { value: null } }));
    for (const each of [cause, message, errors, noList, type, keys, all, odd, bare]) {
      expect(() => cross(each)).not.toThrow();
    }
    expect((cross(cause) as Error).cause).toContain("boom");
  });

  test("keeps its class and properties when its cause, or one of its errors, cannot be read", () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    const error = Object.assign(new RangeError("outer"), { code: 7, cause: proxy });
    expect(cross(error)).toMatchObject({ name: "RangeError", message: "outer", code: 7, cause: "[not cloneable]" });
    const many = cross(new AggregateError([proxy, new TypeError("inner")], "many")) as AggregateError;
    expect(many.errors).toEqual(["[not cloneable]", new TypeError("inner")]);
  });

  test("has the caller's stack after its own", () => {
    const got = cross(new Error("m"), "    at caller (app.js:1:1)") as Error;
    expect(got.stack).toMatch(/m[\s\S]*called from[\s\S]*at caller \(app\.js:1:1\)$/);
  });

  test("of any shape keeps its message, name and cloneable properties", () => {
    const props = fc.dictionary(
      fc.string().filter((key) => !["name", "message", "stack", "cause", "errors"].includes(key)),
      fc.jsonValue(),
      { maxKeys: 8 },
    );
    fc.assert(
      fc.property(fc.string(), props, (message, own) => {
        const error = new RangeError(message);
        for (const [key, value] of Object.entries(own)) Object.defineProperty(error, key, { value, enumerable: true });
        const got = cross(error) as Loose;
        expect([got.name, got.message]).toEqual(["RangeError", message]);
        for (const key of Object.keys(own)) {
          expect(Object.getOwnPropertyDescriptor(got, key)?.value).toEqual(structuredClone(own[key]));
        }
      }),
    );
  });
});

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
