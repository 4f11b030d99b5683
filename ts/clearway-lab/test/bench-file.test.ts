// SPDX-License-Identifier: MIT OR Apache-2.0
// Reads scenario files, in this process: names, inputs, ways, and the messages for mistakes. Also the types of `scenario()`.
import { describe, expect, expectTypeOf, test } from "vitest";
import { type BenchPlan, comparisonsOf, controlOf } from "../src/bench/comparisons.js";
import { readDefinition } from "../src/bench/definition.js";
import { nearest, orMeant } from "../src/bench/nearest-name.js";
import { scenario } from "../src/bench/scenario.js";
import { describeThrown } from "../src/bench/steps.js";
import { isSame, snapshotOf } from "../src/bench/ways.js";

const direct = (input: unknown) => input;

describe("readDefinition", () => {
  test("returns ways and inputs by name, and what makes each input", () => {
    let made = 0;
    const { title, inputs, ways, check } = readDefinition({
      default: { title: "Which?", inputs: { a: 3, b: () => ++made }, direct, pool: { run: direct }, check: undefined },
    });
    expect({ title, check }).toEqual({ title: "Which?", check: undefined });
    expect(ways.map(({ name, setup }) => [name, setup])).toEqual([
      ["direct", undefined],
      ["pool", undefined],
    ]);
    expect(inputs.map(({ name, isFresh, make }) => [name, isFresh, make(), make()])).toEqual([
      ["a", false, 3, 3],
      ["b", true, 1, 2],
    ]);
  });

  test("gives a scenario without inputs one input without a name", () => {
    expect(readDefinition({ default: { direct } }).inputs.map(({ name, make }) => [name, make()])).toEqual([
      [undefined, undefined],
    ]);
  });

  test.each<[string, Record<string, unknown>, RegExp]>([
    [
      "no default export",
      { a: 1, b: 2 },
      /^it has no default export \(it exports only a, b\): write `export default scenario/,
    ],
    ["no export", {}, /^it has no default export \(it exports nothing\)/],
    ["a number", { default: 3 }, /^its default export is a number: 3, not a scenario/],
    ["null", { default: null }, /^its default export is null, not a scenario/],
    ["a promise", { default: Promise.resolve({}) }, /^its default export is a promise, not a scenario/],
    ["a function", { default: direct }, /^its default export is a function, not a scenario/],
    ["no way", { default: { inputs: { a: 1 } } }, /^the scenario has no way: add a function/],
    ["inputs without names", { default: { inputs: [1], direct } }, /^inputs: it is an array; give each input a name/],
    ["empty inputs", { default: { inputs: {}, direct } }, /^inputs: it is empty; add an input/],
    [
      "a setting misspelt",
      { default: { input: { a: 1 }, direct } },
      /^input: it has no `run`;.* did you mean "inputs"\?$/,
    ],
    ["run misspelt", { default: { pool: { runn: direct } } }, /^pool: it has no `run`;.* did you mean "run"\?$/],
    ["teardown misspelt", { default: { pool: { run: direct, tearDown: direct } } }, /^pool\.tearDown: .*"teardown"\?$/],
    ["a way that is a number", { default: { direct: 3 } }, /^direct: it is a number: 3; a way is a function or/],
    [
      "setup that is no function",
      { default: { direct: { run: direct, setup: 1 } } },
      /^direct\.setup: it is a number: 1, not a/,
    ],
    [
      "check that is no function",
      { default: { direct, check: true } },
      /^check: it is a boolean: true, not a function$/,
    ],
    ["an empty title", { default: { direct, title: "" } }, /^title: it is a string: ""; write a question/],
  ])("refuses %s and names the field", (_, module, message) => {
    expect(() => readDefinition(module)).toThrow(message);
  });

  test("names the field of a getter that throws", () => {
    const hostile = {
      get direct() {
        throw "no";
      },
    };
    expect(() => readDefinition({ default: hostile })).toThrow(/^direct: its getter threw "no"$/);
  });
});

describe("nearest", () => {
  test.each([
    ["totl", "total"],
    ["TOTAL", "total"],
    ["tatol", "total"],
    ["sum", undefined],
    ["man", "main"],
  ])("of %s is %s", (name, near) => {
    expect(nearest(name, ["total", "main"])).toBe(near);
  });

  test("suggests nothing for an equal name, and without names", () => {
    expect([orMeant("a", ["a"]), orMeant("b", [])]).toEqual(["", ""]);
  });
});

describe("describeThrown", () => {
  test("describes anything without throwing", () => {
    const get = () => {
      throw new Error("hostile");
    };
    expect([
      describeThrown("text"),
      describeThrown(undefined),
      describeThrown(Object.create(null)),
      describeThrown(new Proxy(new Error("x"), { get })),
    ]).toEqual(['"text"', "undefined", "a value that cannot be shown", "a value that cannot be shown"]);
  });

  test("names the first line of the user's own code", () => {
    const error = new TypeError("no\nmore");
    error.stack = [
      "TypeError: no",
      "    at f (file:///app/node_modules/a/b.js:1:2)",
      "    at node:internal/x:3:4",
      "    at Object.run (/app/my%20bench.ts:5:6)",
    ].join("\n");
    expect(describeThrown(error)).toBe("TypeError: no (my%20bench.ts:5)");
  });
});

describe("isSame", () => {
  class Point {
    x = 1;
  }
  test.each<[unknown, unknown, boolean]>([
    [{ a: [1, 2] }, { a: [1, 2] }, true],
    [new Point(), { x: 1 }, true],
    [new Uint8Array([1]), new Uint8Array([2]), false],
    [Number.NaN, Number.NaN, true],
    [direct, direct, true],
    [direct, () => 1, false],
  ])("of %o and %o is %s", (a, b, expected) => {
    expect(isSame(a, b)).toBe(expected);
  });

  test("has no snapshot of memory that was moved away", () => {
    const bytes = new Uint8Array(4);
    structuredClone(bytes, { transfer: [bytes.buffer] });
    expect(snapshotOf(bytes)).toBeUndefined();
    expect(snapshotOf([1])).toEqual({ value: [1] });
  });
});

describe("the comparisons of a scenario", () => {
  const info = { inputs: ["small", "large"], ways: ["pool", "direct", "broken"], hasCheck: true };
  const plan = (ms: number, own: Partial<BenchPlan> = {}): BenchPlan => ({
    ...{ reference: "direct", file: "bench.ts", command: "clearway bench" },
    callMs: (way: string) => (way === "broken" ? undefined : ms),
    ...own,
  });

  test("are the calls and the stalls of each way that runs, for each input", () => {
    expect(
      comparisonsOf(info, plan(1)).map(({ name, subject, reference, work }) => [name, subject, reference, work]),
    ).toEqual([
      ["pool/small", "pool", "direct", "calls small"],
      ["pool/small/stall", "pool", "direct", "stalls small"],
      ["pool/large", "pool", "direct", "calls large"],
      ["pool/large/stall", "pool", "direct", "stalls large"],
    ]);
  });

  test("have fewer slices and a shorter warm-up the longer a call takes", () => {
    const of = (ms: number) => comparisonsOf(info, plan(ms))[0]!;
    expect([1, 50, 1000].map((ms) => [of(ms).slicing.blocks, of(ms).warm!.calls])).toEqual([
      [8, 8000],
      [4, 10],
      [1, 0],
    ]);
  });

  test("leave out what a failed reference would be compared with, and the control then has another input", () => {
    const callMs = (way: string, input: string | null) => (way === "direct" && input === "small" ? undefined : 1);
    expect(comparisonsOf(info, plan(1, { callMs })).map(({ input }) => input)).toEqual(Array(4).fill("large"));
    expect(controlOf(info, plan(1, { callMs }))).toMatchObject([
      { subject: "direct", reference: "direct", input: "large" },
    ]);
  });
});

// The types of `scenario()`. The compiler checks this part; `expectTypeOf` compares types exactly.

test("scenario gives the inputs' type to every way and to check, and returns its argument", () => {
  const definition = {
    inputs: { small: 10, large: () => 20 },
    check: (result: number, input: number) => result === input,
    direct: (input: number) => input,
  };
  expect(scenario(definition)).toBe(definition);
  scenario({
    inputs: { small: "a", large: async () => "b" },
    direct: (input) => {
      expectTypeOf(input).toEqualTypeOf<string>();
      return input.length;
    },
    check: (result, input) => {
      expectTypeOf(result).toEqualTypeOf<number>();
      expectTypeOf(input).toEqualTypeOf<string>();
    },
    "any name": async (input) => input.length,
  });
});

test("scenario gives the value of an input that is a promise to every way", () => {
  scenario({
    inputs: { small: Promise.resolve("a"), large: () => Promise.resolve("b") },
    direct: (input) => {
      expectTypeOf(input).toEqualTypeOf<string>();
      return input.length;
    },
  });
});

test("scenario gives the result of setup to run and teardown, for each way", () => {
  scenario({
    inputs: { small: 10 },
    pool: {
      setup: async () => ({ size: 2 }),
      run: (input, context) => {
        expectTypeOf(context).toEqualTypeOf<{ size: number }>();
        return input * context.size;
      },
      teardown: (context) => expectTypeOf(context).toEqualTypeOf<{ size: number }>(),
    },
    other: {
      setup: () => "text",
      run: (input, context) => {
        expectTypeOf(context).toEqualTypeOf<string>();
        return input + context.length;
      },
    },
  });
});

test("scenario refuses a wrong input, a wrong result and a way without run", () => {
  // @ts-expect-error: the input is a number
  scenario({ inputs: { small: 10 }, direct: (input: string) => input });
  // @ts-expect-error: inputs need names
  scenario({ inputs: 10, direct: (input: number) => input });
  // @ts-expect-error: a way has a `run`
  scenario({ inputs: { small: 10 }, direct: { setup: () => 1 } });
});
