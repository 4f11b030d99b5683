// SPDX-License-Identifier: MIT OR Apache-2.0

import { describe, expect, test } from "vitest";
import { bestByOtherRounds, type Times } from "../src/statistics/rounds.js";
import fc from "./fast-check.js";

type Rows = Record<string, number[]>;

function timesOf(rows: Rows): Times {
  return new Map(Object.entries(rows).map(([name, values]) => [name, new Map(values.map((value, at) => [at, value]))]));
}

const bestOf = (rows: Rows) => bestByOtherRounds(timesOf(rows));

/** Ways with one time for each of two to six rounds, from 10 ns to 1000 s. */
const table = fc
  .integer({ min: 2, max: 6 })
  .chain((rounds) =>
    fc.dictionary(
      fc.constantFrom("a", "b", "c", "d", "e"),
      fc.array(fc.double({ min: 1e-5, max: 1e6, noNaN: true }), { minLength: rounds, maxLength: rounds }),
      { minKeys: 1 },
    ),
  );

describe("the best way of a round", () => {
  test("is the way that is best in the other rounds, whatever its own time is", () => {
    fc.assert(
      fc.property(table, fc.nat(), fc.double({ min: 1e-3, max: 1e3, noNaN: true }), (rows, pick, factor) => {
        const name = Object.keys(rows)[pick % Object.keys(rows).length] as string;
        const values = rows[name] as number[];
        const round = pick % values.length;
        const changed = { ...rows, [name]: values.map((value, at) => (at === round ? value * factor : value)) };
        expect(bestOf(changed).get(round)).toBe(bestOf(rows).get(round));
      }),
    );
  });

  test("is not chosen by the noise of the round itself", () => {
    expect([...bestOf({ a: [1, 2], b: [2, 1] }).values()]).toEqual(["b", "a"]);
  });

  test("is the fastest by geometric mean, so that a slow round does not decide alone", () => {
    expect([...bestOf({ a: [1, 1, 30], b: [2, 2, 20] }).values()]).toEqual(["a", "a", "a"]);
  });

  test("is chosen from the round itself when there is only one", () => {
    expect([...bestOf({ a: [3], b: [2] })]).toEqual([[0, "b"]]);
  });

  test("has all rounds, with times above zero", () => {
    expect([...bestOf({ a: [1, 1], b: [2, 2], late: [0.5], none: [0, 0] }).values()]).toEqual(["a", "a"]);
    expect(bestByOtherRounds(new Map()).size).toBe(0);
  });
});
