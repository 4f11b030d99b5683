// SPDX-License-Identifier: MIT OR Apache-2.0
// The measurement of one pair, and of a whole run.
import { expect, test } from "vitest";
import { measurePair, warmUp } from "../../src/engine/pair.js";
import { verdictNow } from "../../src/engine/plan.js";
import { measureAll } from "../../src/engine/run.js";
import type { Arm, Costs } from "../../src/protocol/arm.js";
import { comparisonOf, QUIET, simulatedBench } from "./simulated-arms.js";

const SLICING = { ms: 9, runs: 1, blocks: 8, pairsMin: 4 };
const costs = (...costsNs: number[]): Costs => ({ costsNs, calls: 1, cpuMs: 40 });

test("a pair is blocks of ABBA or BAAB, and the random source chooses", async () => {
  const order: string[] = [];
  const draws = [0.1, 0.9];
  const take = async (side: string) => {
    order.push(side[0]!);
    return costs(10);
  };
  await measurePair(take, { ...SLICING, blocks: 2 }, () => draws.shift()!);
  expect(order.join("")).toBe("srrsrssr");
});

test("a pair's ratio does not depend on the speed of the machine, which changes from slice to slice", async () => {
  let slice = 0;
  const take = async (side: string) => costs((side === "subject" ? 12 : 10) * 1.2 ** (Math.floor(slice++ / 2) % 3));
  const { log, stillWarming } = await measurePair(take, SLICING, () => 0.9);
  expect(Math.exp(log)).toBeCloseTo(1.2, 6);
  expect(stillWarming).toBe(false);
});

test("a pair drops its first third and measures as much again if the ratio moved", async () => {
  let slices = 0;
  // The subject becomes as fast as the reference after the first third.
  const take = async (side: string) => costs(side === "subject" && slices++ < 5 ? 13 : 10);
  const { log, stillWarming } = await measurePair(take, SLICING, () => 0.1);
  expect(Math.exp(log)).toBeCloseTo(1, 6);
  expect(stillWarming).toBe(false);
});

test("a pair says so if its ratio still moves", async () => {
  let slices = 0;
  const take = async (side: string) => costs(side === "subject" ? 10 * 0.98 ** slices++ : 10);
  expect((await measurePair(take, SLICING, () => 0.1)).stillWarming).toBe(true);
});

function warmingArm(windows: number[]): Arm & { asked: unknown[] } {
  const asked: unknown[] = [];
  return {
    asked,
    warm: async (work, calls, cpuMs) => {
      asked.push(["warm", work, calls, cpuMs]);
      return costs(1);
    },
    slice: async (work, ms) => {
      asked.push(["slice", work, ms]);
      return costs(windows.shift() ?? 10);
    },
    pin: () => {},
    end: async () => {},
  };
}

test("a warm-up counts calls, and ends after three windows without a gain of 3 %", async () => {
  const arm = warmingArm([30, 20, 10, 10, 9.9, 9.8]);
  await warmUp(arm, { work: "call", calls: 8000 });
  expect(arm.asked[0]).toEqual(["warm", "call", 8000, 1000]);
  expect(arm.asked.slice(1)).toEqual(Array.from({ length: 6 }, () => ["slice", "call", 40]));
});

test("a warm-up ends although every window is faster", async () => {
  const arm = warmingArm(Array.from({ length: 200 }, (_, at) => 1000 * 0.9 ** at));
  await warmUp(arm, { work: "call", calls: 8000 });
  expect(arm.asked.length).toBeLessThan(40);
});

test("slow work is warmed up by other work, and by as many calls as it says", async () => {
  const arm = warmingArm([]);
  await warmUp(arm, { work: "few-rows", calls: 1 });
  expect(arm.asked[0]).toEqual(["warm", "few-rows", 1, 1000]);
  expect(arm.asked.slice(1)).toEqual(Array.from({ length: 4 }, () => ["slice", "few-rows", 40]));
});

test("comparisons with the same arms share each pair of processes", async () => {
  const bench = simulatedBench(1, QUIET, { own: 2, other: 1 });
  const measured = await measureAll(
    [comparisonOf("call", "own", "other"), comparisonOf("burst", "own", "other", { work: "burst" })],
    bench,
    { budgetMs: 1e6 },
  );
  expect(measured.map((each) => verdictNow(each))).toEqual(["slower", "slower"]);
  expect(bench.asked.filter((asked) => asked === "open own")).toHaveLength(4);
});

test("every arm that was opened is ended", async () => {
  const bench = simulatedBench(2, QUIET, { own: 2, other: 1 });
  await measureAll([comparisonOf("call", "own", "other")], bench, { budgetMs: 1e6 });
  const count = (begin: string) => bench.asked.filter((asked) => asked.startsWith(begin)).length;
  expect(count("end")).toBe(count("open"));
});

test("work that can be done once has a new arm for each slice, and no warm-up", async () => {
  const bench = simulatedBench(3, QUIET, { own: 2, other: 1 });
  await measureAll([comparisonOf("start", "own", "other", { isFresh: true })], bench, { budgetMs: 1e6 });
  const count = (begin: string) => bench.asked.filter((asked) => asked.startsWith(begin)).length;
  expect(count("open")).toBe(count("slice"));
  expect(count("end")).toBe(count("slice"));
  expect(count("warm")).toBe(0);
});

test("an arm that does not open fails its comparison with its reason, and no other", async () => {
  const bench = simulatedBench(4, QUIET, { own: 2, other: 1 });
  const [failed, fine] = await measureAll(
    [comparisonOf("a", "own", "absent"), comparisonOf("b", "own", "other")],
    bench,
    { budgetMs: 1e6 },
  );
  expect(failed!.failed).toBe("absent is not installed");
  expect(verdictNow(fine!)).toBe("slower");
  expect(bench.asked.filter((asked) => asked === "end own")).toHaveLength(5);
});

/** A pair takes 1.7 s: 0.2 s to start its arms, 0.2 s for their warm-up, and 1.3 s for 32 slices. */
const SLOW = { slicing: { ms: 40, runs: 1, blocks: 8, pairsMin: 4 } };

test("a run that cannot have an answer in its time ends after the pair that shows it, and says how much time would do", async () => {
  const bench = simulatedBench(5, QUIET, { own: 2, other: 1 });
  const [measured] = await measureAll([comparisonOf("call", "own", "other", SLOW)], bench, { budgetMs: 6000 });
  expect(measured!.logs).toHaveLength(1);
  expect(measured!.pairMs).toBeCloseTo(bench.nowMs(), 0);
});

test("a pair that has begun ends with the time of the run, and keeps the neighbours that it has", async () => {
  const bench = simulatedBench(5, QUIET, { own: 2, other: 1 });
  const [measured] = await measureAll([comparisonOf("call", "own", "other", SLOW)], bench, { budgetMs: 1500 });
  expect(bench.nowMs()).toBeLessThanOrEqual(1500 + 40);
  expect(measured!.logs).toHaveLength(1);
  expect(bench.asked.filter((asked) => asked === "slice own").length).toBeLessThan(22);
});

test("of questions with the same arms, a short run asks as many as can have an answer", async () => {
  const bench = simulatedBench(6, QUIET, { own: 2, other: 1 });
  const names = ["a", "b", "c", "d", "e"];
  const measured = await measureAll(
    names.map((name) => comparisonOf(name, "own", "other", SLOW)),
    bench,
    { budgetMs: 25_000 },
  );
  const complete = measured.filter(({ logs }) => logs.length === 4);
  expect(complete.length).toBeGreaterThan(1);
  expect(measured.filter(({ logs }) => logs.length > 0)).toEqual(complete);
});

test("an interrupted run ends its arms and keeps its pairs", async () => {
  const bench = simulatedBench(6, QUIET, { own: 2, other: 1 });
  const interruption = new AbortController();
  let blocks = 0;
  const random = () => {
    // The fourth block of the third pair.
    if (++blocks === 20) interruption.abort();
    return bench.random();
  };
  const [measured] = await measureAll(
    [comparisonOf("call", "own", "other")],
    { ...bench, random },
    { budgetMs: 1e6, signal: interruption.signal },
  );
  expect(measured!.logs).toHaveLength(2);
  expect(measured!.failed).toBeUndefined();
  expect(bench.asked.filter((asked) => asked === "end own")).toHaveLength(3);
});
