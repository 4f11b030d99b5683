// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import { regretsOf, type Times } from "../src/statistics/regret.js";
import fc from "./fast-check.js";

type Rows = Record<string, number[]>;

function timesOf(rows: Rows): Times {
  return new Map(Object.entries(rows).map(([name, values]) => [name, new Map(values.map((value, at) => [at, value]))]));
}

const ratios = (rows: Rows) =>
  Object.fromEntries([...regretsOf(timesOf(rows)).of].map(([name, { ratio }]) => [name, ratio]));

/** Strategies with one time for each of two to six rounds, from 10 ns to 1000 s. */
const table = fc
  .integer({ min: 2, max: 6 })
  .chain((rounds) =>
    fc.dictionary(
      fc.constantFrom("a", "b", "c", "d", "e"),
      fc.array(fc.double({ min: 1e-5, max: 1e6, noNaN: true }), { minLength: rounds, maxLength: rounds }),
      { minKeys: 1 },
    ),
  );

describe("regret", () => {
  test("is a strategy's time divided by the best strategy's time", () => {
    const found = ratios({ direct: [1, 1.1, 0.9], pool: [50, 55, 45], slow: [100, 110, 90] });
    expect(found["direct"]).toBe(1);
    expect(found["pool"]).toBeCloseTo(50, 9);
    expect(found["slow"]).toBeCloseTo(100, 9);
  });

  test("compares each round with the strategy that is best in the other rounds", () => {
    fc.assert(
      fc.property(table, fc.nat(), fc.double({ min: 1e-3, max: 1e3, noNaN: true }), (rows, pick, factor) => {
        const name = Object.keys(rows)[pick % Object.keys(rows).length] as string;
        const values = rows[name] as number[];
        const round = pick % values.length;
        const changed = { ...rows, [name]: values.map((value, at) => (at === round ? value * factor : value)) };
        expect(regretsOf(timesOf(changed)).best.get(round)).toBe(regretsOf(timesOf(rows)).best.get(round));
      }),
    );
  });

  test("is the same for two strategies that differ only by noise", () => {
    const swapped = regretsOf(timesOf({ a: [1, 2], b: [2, 1] }));
    expect([...swapped.best.values()]).toEqual(["b", "a"]);
    // If the best strategy were chosen in the same round, it would be compared with itself, and the other strategy would look twice as
    // slow. It is chosen in the other round, so neither strategy looks better than the other.
    expect(swapped.of.get("a")?.ratio).toBeCloseTo(swapped.of.get("b")?.ratio ?? 0, 9);
    expect(swapped.of.get("a")?.ratio).toBeLessThan(1);
  });

  test("is exactly 1 for a strategy that is fastest in every round, and more for the others", () => {
    fc.assert(
      fc.property(table, (rows) => {
        const best = Object.values(rows)[0]?.map((_, at) =>
          Math.min(...Object.values(rows).map((row) => row[at] ?? 0)),
        );
        const found = ratios({ ...rows, best: (best ?? []).map((value) => value / 2) });
        expect(found["best"]).toBe(1);
        for (const [name, ratio] of Object.entries(found)) if (name !== "best") expect(ratio).toBeGreaterThan(1);
      }),
    );
  });

  test("is at least 1 when all rounds agree", () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: 1e-5, max: 1e6, noNaN: true }), { minLength: 1, maxLength: 8 }),
        (values) => {
          const found = ratios(Object.fromEntries(values.map((value, at) => [`s${at}`, [value, value, value]])));
          for (const ratio of Object.values(found)) expect(ratio).toBeGreaterThanOrEqual(1 - 1e-12);
          expect(Math.min(...Object.values(found))).toBeCloseTo(1, 9);
        },
      ),
    );
  });

  test("stays the same when a round is slower for all strategies", () => {
    // The exponents are whole numbers plus a fraction that differs between the strategies, so that no two strategies tie after any sum.
    const powers = fc.array(fc.tuple(...[0, 1, 2].map(() => fc.integer({ min: -12, max: 12 }))), {
      minLength: 2,
      maxLength: 5,
    });
    fc.assert(
      fc.property(powers, fc.double({ min: 0.1, max: 10, noNaN: true }), (all, factor) => {
        const rows = (slow: number) =>
          Object.fromEntries(
            all.map((row, name) => [
              `s${name}`,
              row.map((power, round) => 2 ** (power + name / 20) * (round === 0 ? slow : 1)),
            ]),
          );
        const before = ratios(rows(1));
        for (const [name, ratio] of Object.entries(ratios(rows(factor))))
          expect(ratio / (before[name] ?? 0)).toBeCloseTo(1, 6);
      }),
    );
  });

  test("uses the round itself when there is only one, and says so", () => {
    const { of } = regretsOf(timesOf({ a: [2], b: [3] }));
    expect(of.get("b")).toMatchObject({ ratio: 1.5, rounds: 1, chosenElsewhere: false });
    expect(of.get("a")).toMatchObject({ ratio: 1, chosenElsewhere: false });
  });

  test("of a strategy that lacks a round uses its own rounds, and it is no other strategy's best", () => {
    const found = regretsOf(timesOf({ a: [1, 1], b: [2, 2], late: [0.5] }));
    expect([...found.best.values()]).toEqual(["a", "a"]);
    expect(found.of.get("late")).toMatchObject({ ratio: 0.5, rounds: 1, chosenElsewhere: true });
  });

  test("is absent without strategies and for a time of zero", () => {
    expect(regretsOf(new Map()).of.size).toBe(0);
    expect(ratios({ a: [0, 0], b: [1, 1] })).toEqual({ b: 1 });
  });
});
