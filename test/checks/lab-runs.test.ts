// SPDX-License-Identifier: MIT OR Apache-2.0
import { expect, test } from "vitest";
import { compactOf, decidedOf, rowsOf, tableOf } from "../../scripts/lab-runs.mjs";

const answer = (verdict: string, low: number, high: number) => ({
  name: "call",
  verdict,
  interval: { ratio: Math.sqrt(low * high), low, high },
});
const run = (...answers: object[]) => ({ answers, controls: [] });

test("runs contradict each other if two decided intervals have no ratio in common", () => {
  const [row] = rowsOf([run(answer("slower", 1.1, 1.2)), run(answer("no difference", 0.95, 1.05))]);
  expect(row).toMatchObject({ name: "call", contradicts: true });
});

test("intervals that overlap do not contradict each other, and an open one contradicts nothing", () => {
  const runs = [run(answer("slower", 1.04, 1.2)), run(answer("no difference", 0.95, 1.05)), run(answer("open", 2, 3))];
  expect(rowsOf(runs)[0]).toMatchObject({ contradicts: false, verdicts: "slower 1, no difference 1, open 1" });
});

test("a question that no run decided contradicts nothing", () => {
  expect(rowsOf([run(answer("open", 1, 2))])[0]).toMatchObject({ contradicts: false });
});

test("controls do not count as decided answers", () => {
  const controls = [answer("no difference", 0.98, 1.02)];
  const both = { answers: [answer("faster", 0.5, 0.6), answer("open", 0.5, 2)], controls };
  expect(decidedOf(both)).toBe(1);
});

test("the table of kept runs counts the verdicts of a set, and leaves out sets that are not kept", () => {
  const made = (...answers: object[]) => ({
    ...{
      run: { startedAt: "2026-01-02T03:04:05Z", durationMs: 9400 },
      build: { commit: "abc" },
      machine: { cpu: "x" },
    },
    ...run(...answers),
  });
  const slowed = compactOf([made(answer("slower", 1.1, 1.2)), made(answer("open", 1.1, 1.2))], false);
  const lines = tableOf({ slowed });
  expect(lines).toHaveLength(3);
  expect(lines[2]).toMatch(/\(2 kept, 2026-01-02, abc\) \| 9 \| 0 to 1 of 1 \| 0 \| 0 \| 1 \| 0 \| 1 \|$/);
});
