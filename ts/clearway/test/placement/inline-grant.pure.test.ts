// SPDX-License-Identifier: MIT OR Apache-2.0
import { beforeEach, describe, expect, test } from "vitest";
import fc from "../fixtures/fast-check.js";
import { PaperCaller, type Turned } from "./caller.js";

const budgetUs = 1000;
// While the event loop is not watched, previous turns have spent at most an eighth of the budget.
const unwatchedUs = budgetUs / 8;
const upTo = (count: number) => Array.from({ length: count }, (_, at) => at);

let caller: PaperCaller;

beforeEach(async () => {
  caller = await new PaperCaller().loaded();
});

/** Plays `count` equal turns, and returns what each did. */
function many(count: number, values: readonly number[]): Turned[] {
  return Array.from({ length: count }, () => caller.turn(values));
}

/** Returns the class of argument to which a small number belongs: its number of bits. */
const classOf = (value: number): number => 32 - Math.clz32(value);

const median = (values: number[]) => values.sort((a, b) => a - b)[values.length >> 1]!;

describe("an inline grant for runs of a microsecond", () => {
  beforeEach(() => {
    caller.costUs = () => 0.1;
  });

  test("reads the clock three times per burst: before it, after the first call, and after it", () => {
    caller.turns(600, upTo(100).fill(5));
    const seen = many(200, upTo(100).fill(5));
    expect(seen.every(({ inline }) => inline === 100)).toBe(true);
    expect(median(seen.map(({ clockReadings }) => clockReadings))).toBe(3);
  });

  test("covers several classes of arguments: the numbers from 0 to 99 need no more clock readings than one number", () => {
    caller.turns(1500, upTo(100));
    const seen = many(600, upTo(100));
    expect(median(seen.map(({ clockReadings }) => clockReadings))).toBe(3);
    // Each class is sometimes measured by itself.
    expect(Math.max(...seen.map(({ clockReadings }) => clockReadings))).toBeGreaterThan(3);
  });

  test("covers classes that alternate", () => {
    const values = upTo(100).map((at) => (at * 37) % 100);
    caller.turns(1500, values);
    expect(median(many(200, values).map(({ clockReadings }) => clockReadings))).toBe(3);
  });

  test("reads the clock at least every 128 calls", () => {
    caller.turns(300, upTo(1000).fill(5));
    expect(median(many(50, upTo(1000).fill(5)).map(({ clockReadings }) => clockReadings))).toBeGreaterThanOrEqual(
      1000 / 128,
    );
  });

  test("excludes a long class, which is placed and measured by itself", () => {
    caller.costUs = (value) => (value >= 64 ? 300 : 0.1);
    const values = [...upTo(60), 64, 65, 66, 67, 68];
    caller.turns(1500, values);
    for (const { heldUs, clockReadings } of many(100, values)) {
      expect(heldUs).toBeLessThanOrEqual(budgetUs);
      expect(clockReadings).toBeGreaterThan(3);
    }
  });
});

describe("a task whose cost changes", () => {
  const burst = upTo(100).fill(5);

  test("from 0.1 to 40 us per call stays within the turn's budget from the first burst on", () => {
    caller.costUs = () => 0.1;
    caller.turns(700, burst);
    caller.costUs = () => 40;
    for (const { heldUs } of many(300, burst)) expect(heldUs).toBeLessThanOrEqual(budgetUs);
  });

  test("from 0.1 us to over the budget stalls one call, and then goes to workers", () => {
    caller.costUs = () => 0.1;
    caller.turns(700, burst);
    caller.costUs = () => 1500;
    const first = caller.turn(burst);
    expect(first.inline).toBe(1);
    expect(caller.turn(burst).worker).toBe(100);
  });

  test("for all its classes of arguments stalls once, and then at most once per class and three times in total", () => {
    caller.costUs = () => 0.1;
    caller.turns(1500, upTo(100));
    let value = -1;
    caller.costUs = (given) => {
      value = given;
      return 1500;
    };
    const stalled: number[] = [];
    caller.pauseUs = () => {
      stalled.push(value);
      return 0;
    };
    expect(caller.turn(upTo(100)).inline).toBe(1);
    many(2000, upTo(100));
    expect(stalled.length).toBeLessThanOrEqual(1 + 3);
    const classes = stalled.map(classOf);
    expect(new Set(classes).size).toBe(classes.length);
  });

  test("goes back to workers when it is not cheaper inline", () => {
    caller.costUs = () => 0.1;
    caller.turns(700, burst);
    caller.hopUs = 0.01;
    caller.costUs = () => 7;
    caller.turns(2000, burst);
    expect(many(100, burst).filter(({ worker }) => worker === 100).length).toBeGreaterThan(90);
  });
});

test("a machine that pauses for 3 ms after every 4 ms of runs does not send the task to workers when the processor time is known", () => {
  caller.tellsCpu = true;
  let ranUs = 0;
  caller.costUs = () => 0.1;
  caller.pauseUs = () => {
    ranUs += 0.1;
    if (ranUs < 4000) return 0;
    ranUs = 0;
    return 3000;
  };
  // The first pause has no known cause, so the task goes to workers for a while.
  caller.turns(8000, upTo(100));
  expect(many(4000, upTo(100)).reduce((sum, { inline }) => sum + inline, 0)).toBeGreaterThan(0.97 * 400_000);
});

test("a task that is sometimes long itself goes to workers equally often with and without a known processor time", async () => {
  const [known, unknown] = await Promise.all(
    [true, false].map(async (tellsCpu) => {
      const made = await new PaperCaller().loaded();
      made.tellsCpu = tellsCpu;
      let calls = 0;
      made.costUs = () => (++calls % 30_000 === 0 ? 1500 : 0.1);
      return Array.from({ length: 12_000 }, () => made.turn(upTo(100).fill(5)).inline);
    }),
  );
  expect(known).toEqual(unknown);
});

test("inline runs of a task stay within the turn's budget, whatever its classes of arguments cost", () => {
  return fc.assert(
    fc.asyncProperty(
      fc.array(fc.double({ min: 0.05, max: 120, noNaN: true }), { minLength: 8, maxLength: 8 }),
      fc.integer({ min: 1, max: 300 }),
      async (costs, count) => {
        const made = await new PaperCaller().loaded();
        made.costUs = (value) => costs[Math.min(7, 32 - Math.clz32(value))]!;
        const values = upTo(count).map((at) => (at * 37) % 128);
        for (let round = 0; round < Math.ceil(40_000 / count); round++) {
          const { heldUs } = made.turn(values);
          expect(heldUs).toBeLessThanOrEqual(budgetUs + unwatchedUs);
        }
      },
    ),
    { numRuns: 30 },
  );
});
