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

test("a run ends with its time, and keeps what it has", async () => {
  const bench = simulatedBench(5, QUIET, { own: 2, other: 1 });
  // A pair takes 1.7 s.
  const slow = comparisonOf("call", "own", "other", { slicing: { ms: 40, runs: 1, blocks: 8, pairsMin: 4 } });
  const [measured] = await measureAll([slow], bench, { budgetMs: 6000 });
  expect(measured!.logs.length).toBeGreaterThan(0);
  expect(measured!.logs.length).toBeLessThan(4);
  expect(bench.nowMs()).toBeLessThan(6000);
});

test("an interrupted run ends its arms and keeps its pairs", async () => {
  const bench = simulatedBench(6, QUIET, { own: 2, other: 1 });
  const interruption = new AbortController();
  let pairs = 0;
  const [measured] = await measureAll([comparisonOf("call", "own", "other")], bench, {
    budgetMs: 1e6,
    signal: interruption.signal,
    onPair: () => {
      if (++pairs === 3) interruption.abort();
    },
  });
  expect(measured!.logs).toHaveLength(2);
  expect(measured!.failed).toBeUndefined();
  expect(bench.asked.filter((asked) => asked === "end own")).toHaveLength(3);
});
