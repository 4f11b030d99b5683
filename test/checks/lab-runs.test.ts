// SPDX-License-Identifier: MIT OR Apache-2.0
import { expect, test } from "vitest";
import { decidedOf, rowsOf } from "../../scripts/lab-runs.mjs";

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
