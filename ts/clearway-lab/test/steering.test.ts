// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests that a run of questions on a slow machine leaves out comparisons, so that the others get their five rounds in time.
import { describe, expect, test } from "vitest";
import { execute } from "../src/run/execute.js";
import { QuestionSteering } from "../src/run/steering.js";
import { loadScenarios } from "../src/scenario/load.js";
import { type PlannedCell, planOrder } from "../src/scenario/plan.js";
import { loadQuestions, type Question } from "../src/scenario/question.js";
import { planQuestions, ROUNDS_MIN } from "../src/scenario/question-plan.js";
import { measured } from "./record.js";

const scenarios = loadScenarios();
const questions = loadQuestions(scenarios);
const cells = planQuestions(questions, scenarios, ["node", "chromium", "jvm", "swift"], {}, ROUNDS_MIN);
const limits = { budgetMs: 265_000, endMs: 288_000 };

/** Runs the plan on a fake clock. `costMs` returns the duration of one measurement. */
async function run(costMs: (cell: PlannedCell, nowMs: number) => number) {
  let now = 0;
  const steering = new QuestionSteering(questions, scenarios, {});
  const executor = {
    nowMs: () => now,
    watch: () => () => 0,
    measure: async (cell: PlannedCell) => {
      now += costMs(cell, now);
      return measured({ longestStall: 1 });
    },
  };
  const order = planOrder(cells, 1);
  const execution = await execute(cells, order, executor, limits, new AbortController().signal, () => {}, steering);
  return { execution, steering, endedMs: now };
}

describe("a run of questions", () => {
  test("measures everything on a machine that is fast enough", async () => {
    const { execution, steering } = await run(() => 600);
    expect(execution.cells).toHaveLength(cells.length);
    expect(steering.leftOut).toEqual([]);
    expect(steering.questions).toEqual(questions);
  });

  test.each([1.2, 2, 4])(
    "has five rounds of every cell that it keeps on a machine %d times too slow",
    async (factor) => {
      const { execution, steering, endedMs } = await run(() => (265_000 / cells.length / ROUNDS_MIN) * factor);
      expect(execution.budgetEnded).toBe(false);
      expect(endedMs).toBeLessThanOrEqual(limits.endMs);
      expect(execution.cells.length).toBeGreaterThan(0);
      for (const { rounds, mechanism } of execution.cells)
        expect([mechanism, rounds.length]).toEqual([mechanism, ROUNDS_MIN]);
      const kept = steering.questions.flatMap(({ comparisons }) => comparisons);
      const all = questions.flatMap(({ comparisons }) => comparisons);
      expect(kept.length + steering.leftOut.length).toBe(all.length);
      for (const { scenario, subject, reference, host } of kept) {
        for (const mechanism of [subject, reference])
          expect(execution.cells).toContainEqual(expect.objectContaining({ scenario, mechanism, host }));
      }
    },
  );

  test("leaves out what is only in the tables before it leaves out a comparison", async () => {
    const others = (kept: readonly Question[]) =>
      kept.flatMap(({ comparisons }) => comparisons.flatMap((compared) => compared.others));
    const { execution, steering } = await run(() => (265_000 / cells.length / ROUNDS_MIN) * 1.04);
    expect(steering.leftOut).toEqual([]);
    expect(others(questions).length).toBeGreaterThan(5);
    expect(others(steering.questions)).toEqual([]);
    expect(execution.cells.length).toBeLessThan(cells.length);
    expect(execution.cells.every(({ rounds }) => rounds.length === ROUNDS_MIN)).toBe(true);
  });

  test("keeps the first comparison of each question before the second of any", async () => {
    const { steering } = await run(() => (265_000 / cells.length / ROUNDS_MIN) * 1.5);
    expect(steering.leftOut.length).toBeGreaterThan(0);
    expect(steering.questions.map(({ name }) => name)).toEqual(questions.map(({ name }) => name));
  });

  test("leaves out more when the machine becomes slower during the run", async () => {
    const { execution, endedMs } = await run((_, nowMs) => (nowMs < 60_000 ? 600 : 1800));
    expect(endedMs).toBeLessThanOrEqual(limits.endMs + 1800);
    expect(execution.cells.every(({ rounds }) => rounds.length === ROUNDS_MIN)).toBe(true);
  });

  test("keeps one comparison when nothing fits", async () => {
    const { execution, steering } = await run(() => 3000);
    expect(steering.questions).toHaveLength(1);
    expect(execution.cells.length).toBeLessThan(5);
  });
});
