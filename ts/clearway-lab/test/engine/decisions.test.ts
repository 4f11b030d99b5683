// SPDX-License-Identifier: MIT OR Apache-2.0
// What the engine decides about arms whose difference is known. Simulated with a fixed seed, so the counts are exact.
import { expect, test } from "vitest";
import { verdictNow } from "../../src/engine/plan.js";
import { measureAll } from "../../src/engine/run.js";
import {
  comparisonOf,
  type Disturbance,
  HEAVY_TAILS,
  NORMAL,
  QUIET,
  simulatedBench,
  twoSpeeds,
} from "./simulated-arms.js";

const RUNS = 300;

/** Counts the verdicts about an arm that is `factor` times as slow as the other. */
async function verdicts(disturbance: Disturbance, factor: number): Promise<Record<string, number>> {
  const counts: Record<string, number> = { faster: 0, slower: 0, "no difference": 0, open: 0 };
  for (let seed = 1; seed <= RUNS; seed++) {
    const bench = simulatedBench(seed, disturbance, { own: factor, other: 1 });
    const [measured] = await measureAll([comparisonOf("call", "own", "other")], bench, { budgetMs: 1e6 });
    counts[verdictNow(measured!, true)]!++;
  }
  return counts;
}

test.each<[string, Disturbance]>([
  ["a quiet machine", QUIET],
  ["normal noise", NORMAL],
  ["heavy tails", HEAVY_TAILS],
  ["processes with two speeds, a tenth apart", twoSpeeds(0.1)],
  ["processes with two speeds, a quarter apart", twoSpeeds(0.25)],
])("equal arms are called different in at most 2 of 100 runs: %s", async (_, disturbance) => {
  const { faster, slower } = await verdicts(disturbance, 1);
  expect(faster! + slower!).toBeLessThanOrEqual(RUNS * 0.02);
});

test("equal arms on a quiet machine have no difference", async () => {
  expect((await verdicts(QUIET, 1))["no difference"]).toBeGreaterThan(RUNS * 0.98);
});

test.each([1.1, 1.3])("an arm that is slower by a factor of %s is found", async (factor) => {
  expect((await verdicts(QUIET, factor))["slower"]).toBeGreaterThan(RUNS * 0.95);
  expect((await verdicts(NORMAL, factor))["faster"]).toBe(0);
  expect((await verdicts(QUIET, 1 / factor))["faster"]).toBeGreaterThan(RUNS * 0.95);
});

test("an arm that is slower by 5 % is slower, or within the 10 % of no difference, and never faster", async () => {
  const { slower, faster, "no difference": equal } = await verdicts(QUIET, 1.05);
  expect(slower).toBeGreaterThan(RUNS * 0.5);
  expect(slower! + equal!).toBeGreaterThan(RUNS * 0.95);
  expect(faster).toBe(0);
});
