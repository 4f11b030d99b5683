// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import { reasonOf } from "../fixtures/pools.js";
import { behaviours, outcomes, peerPool } from "./behaviours.js";

behaviours("a function of the worker", {
  "is called by its name": async () => expect(await peerPool().call.add(1, 3)).toBe(4),
  "returns a promise even if it is synchronous": () => {
    const made = peerPool().call.add(1, 3);
    expect(made).toBeInstanceOf(Promise);
    return made.then(() => {});
  },
  "may return a promise": async () => expect(await peerPool().call.later("later")).toBe("later"),
  "receives undefined as an argument": async () => expect(await peerPool().call.echo(undefined)).toBeUndefined(),
  "receives as many arguments as the caller passes": async () => {
    const { call } = peerPool();
    expect([await call.count(), await call.count(1), await call.count(1, undefined, 3)]).toEqual([0, 1, 3]);
  },
  "may destructure its arguments, with defaults": async () => {
    const { call } = peerPool();
    expect([await call.greet(), await call.greet({ name: "Bo", times: 2 })]).toEqual(["hello you", "hello Bohello Bo"]);
  },
  "may be taken out of the proxy": async () => {
    const { add } = peerPool().call;
    expect(await add(2, 2)).toBe(4);
  },
  "is called many times": async () => {
    const { call } = peerPool();
    const before = Number(await call.getAnswer());
    for (let at = 1; at <= 20; at++) await call.setAnswer(before + at);
    expect(await call.getAnswer()).toBe(before + 20);
  },
  "runs in a thread of its own, without the page's document": async () =>
    expect(await peerPool().call.scope()).toBe("undefined"),
});

const values: [string, unknown][] = [
  ["a number", 1.5],
  ["NaN", Number.NaN],
  ["minus zero", -0],
  ["Infinity", Number.POSITIVE_INFINITY],
  ["a large bigint", 2n ** 80n],
  ["a text with every kind of character", "a\u0000ß漢😀\ud800"],
  ["an empty text", ""],
  ["null", null],
  ["undefined", undefined],
  ["booleans", [true, false]],
  ["a list with holes", Object.assign([1], { 2: 3 })],
  ["an object with undefined properties", { a: undefined, b: 1 }],
  ["an object without a prototype's names", { constructor: 1, toString: 2 }],
  ["a date", new Date(1e12)],
  ["a regular expression", /a+/gi],
  [
    "a map",
    new Map<unknown, unknown>([
      ["a", 1],
      [{ b: 2 }, [3]],
    ]),
  ],
  ["a set", new Set([1, "a", null])],
  ["an ArrayBuffer", new Uint8Array([1, 2, 3]).buffer],
  ["typed arrays", [new Int8Array([-1]), new Float64Array([0.5]), new BigInt64Array([5n])]],
  ["deep objects", { a: { b: { c: [{ d: new Map([["e", { f: 1 }]]) }] } } }],
  ["boxed primitives", [Object(1), Object("a"), Object(true)]],
];

describe("a value crosses to the worker and back:", () => {
  test.each(values)("%s", async (_, value) => {
    expect(await peerPool().call.echo(value)).toEqual(value);
  });

  test("an object that contains itself", async () => {
    const value: Record<string, unknown> = { name: "me" };
    value["self"] = value;
    const back = (await peerPool().call.echo(value)) as typeof value;
    expect(back["self"]).toBe(back);
  });

  test("one object at two places stays one object", async () => {
    const shared = { a: 1 };
    const [one, two] = (await peerPool().call.echo([shared, shared])) as object[];
    expect(one).toBe(two);
  });

  test("an error, as an error", async () => {
    expect(await peerPool().call.isError(new RangeError("as a value"))).toEqual([true, "as a value"]);
  });
});

describe("what a function throws reaches the caller:", () => {
  const kinds: [string, unknown][] = [
    ["text", "a text"],
    ["number", 5],
    ["zero", 0],
    ["null", null],
    ["undefined", undefined],
    ["object", { status: 404 }],
  ];
  test.each(kinds)("%s, unchanged", async (kind, expected) => {
    const { call } = peerPool();
    for (const made of [call.throws(kind), call.rejects(kind)])
      expect(
        await made.then(
          () => "nothing",
          (reason) => ({ reason }),
        ),
      ).toEqual({ reason: expected });
  });

  test.each(["throws", "rejects"] as const)("an error with its message and stack (%s)", async (name) => {
    const reason = (await reasonOf(peerPool().call[name]("own"))) as Error;
    expect(reason).toBeInstanceOf(Error);
    expect(reason.message).toBe("out of stock");
    expect(reason.stack).toContain("peers.tasks");
  });

  test("the next call works", async () => {
    const { call } = peerPool();
    expect(await outcomes([call.throws("own"), call.add(1, 1)])).toEqual(["E_STOCK", 2]);
  });
});

behaviours("a value that cannot be cloned", {
  "as an argument fails the call": async () =>
    expect(await outcomes([peerPool().call.echo(() => 1), peerPool().call.echo({ deep: [Symbol("s")] })])).toEqual([
      "not-cloneable",
      "not-cloneable",
    ]),
  "as a getter that throws fails the call": async () => {
    const value = {
      get odd() {
        throw new RangeError("not readable");
      },
    };
    expect(await outcomes([peerPool().call.echo(value)])).toEqual(["not-cloneable"]);
  },
  "fails no other call": async () => {
    const { call } = peerPool();
    expect(await outcomes([call.add(1, 1), call.echo(() => 1), call.add(2, 2)])).toEqual([2, "not-cloneable", 4]);
  },
});
