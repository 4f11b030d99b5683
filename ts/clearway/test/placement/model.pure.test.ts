// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import { steady } from "./steady.js";
import { random, times, World } from "./world.js";

describe("in the steady state", () => {
  const cases: [what: string, us: number, count: number, place: "inline" | "worker"][] = [
    ["arithmetic in batches of 100", 0.05, 100, "inline"],
    ["arithmetic, one call at a time", 0.05, 1, "inline"],
    ["lists of 3 us in batches of 10", 3, 10, "inline"],
    ["lists of 20 us in batches of 100", 20, 100, "worker"],
    ["lists of 20 us, one call at a time", 20, 1, "inline"],
    ["150 us, one call at a time", 150, 1, "inline"],
    ["150 us in batches of 100", 150, 100, "worker"],
    ["1 ms in batches of 100", 1000, 100, "worker"],
    ["1 ms, one call at a time", 1000, 1, "worker"],
    ["10 ms in batches of 100", 10_000, 100, "worker"],
  ];

  test.each(cases)("%s: within 15 %% of the better place, and never over the budget", (_what, us, count, place) => {
    const world = new World();
    const seen = steady(world, () => times(count, us), count === 1 ? 4000 : 100, count === 1 ? 4000 : 200);
    expect(seen.regret).toBeLessThan(0.15);
    expect(seen.heldUs).toBeLessThanOrEqual(world.budgetUs);
    if (place === "inline") expect(seen.ranInline / seen.calls).toBeGreaterThan(0.95);
    else expect(seen.ranInline / seen.calls).toBeLessThan(0.01);
  });

  test("short work goes to the worker over a carrier whose hop costs almost nothing", () => {
    const world = new World();
    Object.assign(world, { latencyUs: 0.1, handleUs: 0.05, inlineExtraUs: 1 });
    const seen = steady(world, () => times(100, 2), 100, 200);
    expect(seen.regret).toBeLessThan(0.15);
    expect(seen.ranInline / seen.calls).toBeLessThan(0.01);
  });

  test("the price of a hop is updated when the carrier changes", () => {
    const world = new World();
    expect(steady(world, () => times(1, 20), 3000, 1000).ranInline).toBeGreaterThan(990);
    Object.assign(world, { latencyUs: 0.5, handleUs: 0.2, inlineFactor: 1.5 });
    const seen = steady(world, () => times(1, 20), 100_000, 1000);
    expect(seen.ranInline).toBeLessThan(20);
    expect(seen.regret).toBeLessThan(0.15);
  });

  test("each class of arguments has its own place", () => {
    const world = new World();
    const mixed = () => [...times(50, 1, 1), ...times(50, 3000, 2)];
    for (let round = 0; round < 100; round++) world.batch(mixed());
    const played = world.batch(mixed());
    expect(played.inline).toBe(50);
    expect(played.longestUs).toBeLessThan(2);
  });

  test("a batch that exceeds the budget runs inline up to the budget, and the rest goes to the worker", () => {
    const world = new World();
    // A hop that costs more than the work, so that sending blocks the caller for a long time.
    world.handleUs = 60;
    for (let round = 0; round < 50; round++) world.batch(times(100, 20));
    const played = world.batch(times(100, 20));
    expect(played.inline).toBeGreaterThan(40);
    expect(played.worker).toBeGreaterThan(40);
    expect(played.heldUs).toBeLessThanOrEqual(world.budgetUs);
  });
});

describe("unknown costs", () => {
  test("keep a task in workers for its first 16 runs", () => {
    const world = new World();
    for (let call = 0; call < 16; call++) expect(world.batch(times(1, 0.1)).inline).toBe(0);
    for (let call = 0; call < 100; call++) world.batch(times(1, 0.1));
    expect(world.batch(times(1, 0.1)).inline).toBe(1);
  });

  test("keep an unknown class of arguments in workers, however well another class is known", () => {
    const world = new World();
    for (let round = 0; round < 20; round++) world.batch(times(100, 0.1, 1));
    expect(world.batch(times(1, 50_000, 2)).inline).toBe(0);
  });

  test("keep a task with too many classes of arguments in workers", () => {
    const world = new World();
    for (let kind = 0; kind < 64; kind++) world.batch(times(1, 0.1, kind));
    for (let round = 0; round < 200; round++) expect(world.batch(times(1, 0.1, 64)).inline).toBe(0);
  });

  test("keep a task that was long in its first runs in workers, until it was short a thousand times", () => {
    const world = new World();
    world.batch(times(1, 5000));
    for (let call = 0; call < 990; call++) expect(world.batch(times(1, 0.1)).inline).toBe(0);
    for (let call = 0; call < 100; call++) world.batch(times(1, 0.1));
    expect(world.batch(times(1, 0.1)).inline).toBe(1);
  });
});

describe("cold runs", () => {
  test("do not decide the place", () => {
    const world = new World();
    // Simulates JIT compilation: the first inline runs take much longer than the hop.
    Object.assign(world, { coldUs: 300, coldRuns: 16, handleUs: 10 });
    const seen = steady(world, () => times(1, 1), 500, 500);
    expect(seen.ranInline / seen.calls).toBeGreaterThan(0.95);
  });

  test("over the budget start a back-off like any others", () => {
    const world = new World();
    Object.assign(world, { coldUs: 5000, coldRuns: 1 });
    while (world.model.backoff.times === 0) world.batch(times(1, 1));
    for (let call = 0; call < 64; call++) expect(world.batch(times(1, 1)).inline).toBe(0);
  });
});

describe("a change of cost", () => {
  test("stalls a task that becomes long once, and then keeps it in workers for 64 calls, 128, 256 …", () => {
    const world = new World();
    const settle = () => {
      for (let call = 0; call < 3000; call++) world.batch(times(1, 1));
    };
    const awayFor = () => {
      let calls = 0;
      while (world.batch(times(1, 1)).inline === 0) calls++;
      return calls;
    };
    settle();
    for (const calls of [64, 128, 256]) {
      expect(world.batch(times(1, 8000)).longestUs).toBeGreaterThan(8000);
      expect(awayFor()).toBeGreaterThanOrEqual(calls);
    }
  });

  test("keeps every call of a task that became long in workers", () => {
    const world = new World();
    for (let call = 0; call < 3000; call++) world.batch(times(1, 1));
    world.batch(times(1, 8000));
    for (let call = 0; call < 3000; call++) expect(world.batch(times(1, 8000)).inline).toBe(0);
  });

  test("brings a task that became short again inline within 1300 calls", () => {
    const world = new World();
    for (let call = 0; call < 3000; call++) world.batch(times(1, 1));
    for (let call = 0; call < 3000; call++) world.batch(times(1, 8000));
    let calls = 0;
    while (world.batch(times(1, 1)).inline === 0) calls++;
    expect(calls).toBeLessThan(1300);
  });

  test("under the budget changes the place without a stall, in both directions", () => {
    const world = new World();
    const inlineShare = (us: number) => {
      for (let round = 0; round < 600; round++) world.batch(times(20, us));
      let inline = 0;
      for (let round = 0; round < 100; round++) inline += world.batch(times(20, us)).inline;
      return inline / 2000;
    };
    expect(inlineShare(1)).toBeGreaterThan(0.95);
    expect(inlineShare(200)).toBeLessThan(0.05);
    expect(inlineShare(1)).toBeGreaterThan(0.95);
    expect(world.model.backoff.times).toBe(0);
  });
});

describe("outliers", () => {
  test("in one of twenty calls keep a task in the worker", () => {
    const world = new World();
    const draw = random(1);
    const bimodal = () => (draw() < 0.05 ? 5000 : 1);
    let inline = 0;
    for (let round = 0; round < 500; round++) inline += world.batch(times(100, bimodal)).inline;
    expect(inline).toBe(0);
  });

  test("in one of 3000 calls stall the caller less and less often", () => {
    const world = new World();
    const draw = random(2);
    const rare = () => (draw() < 1 / 3000 ? 5000 : 1);
    const stallsIn = (calls: number) => {
      const before = world.model.backoff.times;
      for (let round = 0; round < calls / 10; round++) world.batch(times(10, rare));
      return world.model.backoff.times - before;
    };
    const early = stallsIn(60_000);
    expect(early).toBeGreaterThan(0);
    expect(stallsIn(600_000)).toBeLessThan(early * 2);
  });

  test("from garbage collection under the budget change nothing", () => {
    const world = new World();
    const draw = random(3);
    const seen = steady(world, () => times(100, () => (draw() < 1 / 2000 ? 600 : 1)), 100, 300);
    expect(seen.regret).toBeLessThan(0.15);
    expect(seen.ranInline / seen.calls).toBeGreaterThan(0.95);
  });

  test("over the budget in one of 20,000 calls cost less than 15 %", () => {
    const world = new World();
    const draw = random(4);
    const seen = steady(world, () => times(100, () => (draw() < 1 / 20_000 ? 2000 : 1)), 200, 3000);
    expect(seen.regret).toBeLessThan(0.15);
  });
});
