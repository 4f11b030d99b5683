// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import { steady } from "./steady.js";
import { times, World } from "./world.js";

/** Returns a machine in the steady state of bursts of `count` calls that take `us` in a worker. */
function settled(facts: Partial<World>, us: number, count: number) {
  const world = Object.assign(new World(), facts);
  const rounds = Math.ceil(6000 / count);
  return { world, ...steady(world, () => times(count, us), rounds, rounds) };
}

describe("a burst that exceeds the budget", () => {
  // 17 of 19 inline runs take 990 us, and the other two pay for a whole hop anyway.
  const dearHop = { latencyUs: 165, handleUs: 20, inlineFactor: 2, workers: 6 };

  test("goes to workers when the rest of the burst has to pay for a hop anyway", () => {
    const seen = settled(dearHop, 29, 19);
    expect(seen.regret).toBeLessThan(0.15);
    expect(seen.ranInline / seen.calls).toBeLessThan(0.05);
  });

  test("runs inline up to the budget when that is cheaper", () => {
    const seen = settled({ ...dearHop, handleUs: 80, inlineFactor: 1 }, 29, 40);
    expect(seen.ranInline / seen.calls).toBeGreaterThan(0.6);
    expect(seen.heldUs).toBeLessThanOrEqual(seen.world.budgetUs);
    expect(seen.auto).toBeLessThan(seen.worker * 0.75);
  });

  test("leaves room in the budget for sending the rest", () => {
    const seen = settled({ handleUs: 5, latencyUs: 100, workers: 1 }, 15, 100);
    expect(seen.ranInline / seen.calls).toBeGreaterThan(0.4);
    expect(seen.ranInline / seen.calls).toBeLessThan(0.6);
    expect(seen.stallUs).toBeLessThanOrEqual(seen.world.budgetUs);
    expect(seen.auto).toBeLessThan(seen.worker);
  });

  test("leaves no room when sending a call takes longer than running it", () => {
    const seen = settled({ handleUs: 40, latencyUs: 500 }, 15, 100);
    expect(seen.ranInline / seen.calls).toBeGreaterThan(0.6);
  });

  test("updates the cost of inline runs, even when it goes to workers every time", () => {
    // 12 of 28 fit, fewer than the model needs for a comparison with the worker.
    const seen = settled({ latencyUs: 0.5, handleUs: 4.5, inlineFactor: 2, inlineExtraUs: 5, workers: 1 }, 34, 28);
    expect(seen.regret).toBeLessThan(0.15);
    expect(seen.ranInline / seen.calls).toBeLessThan(0.05);
  });
});

describe("a burst whose calls do not divide evenly among the workers", () => {
  test("is priced by the worker with the most runs: two runs for three calls and two workers", () => {
    const seen = settled({ latencyUs: 1.7, handleUs: 0.1, inlineFactor: 0.5, inlineExtraUs: 0.1 }, 109, 3);
    expect(seen.regret).toBeLessThan(0.15);
    expect(seen.ranInline / seen.calls).toBeGreaterThan(0.95);
  });
});

describe("a task that never ran inline", () => {
  test("is tried inline when it fits the budget twice", () => {
    const seen = settled({ latencyUs: 0.5, handleUs: 0.1, inlineFactor: 0.5, inlineExtraUs: 0.1, workers: 1 }, 390, 1);
    expect(seen.ranInline / seen.calls).toBeGreaterThan(0.95);
  });

  test("is not tried inline when it does not fit the budget twice, even when it would be faster", () => {
    const seen = settled({ latencyUs: 200, inlineFactor: 0.5 }, 510, 1);
    expect(seen.ranInline).toBe(0);
  });
});
