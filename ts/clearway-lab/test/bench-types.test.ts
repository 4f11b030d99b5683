// SPDX-License-Identifier: MIT OR Apache-2.0
// The types of `scenario()`. The compiler checks this file; `expectTypeOf` compares types exactly.
import { expect, expectTypeOf, test } from "vitest";
import { scenario } from "../src/bench/scenario.js";

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
