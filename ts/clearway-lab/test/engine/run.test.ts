// SPDX-License-Identifier: MIT OR Apache-2.0
import { expect, test } from "vitest";
import { verdictNow } from "../../src/engine/plan.js";
import { measureAll } from "../../src/engine/run.js";
import { comparisonOf, QUIET, simulatedBench } from "./simulated-arms.js";

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
