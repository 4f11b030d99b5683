// SPDX-License-Identifier: MIT OR Apache-2.0

import { expect, test } from "vitest";
import { Model } from "../../src/placement/model.js";
import fc from "../fixtures/fast-check.js";
import { random, times, World } from "./world.js";

const machine = fc.record({
  latencyUs: fc.double({ min: 0.5, max: 200, noNaN: true }),
  handleUs: fc.double({ min: 0.1, max: 20, noNaN: true }),
  inlineFactor: fc.double({ min: 0.5, max: 2, noNaN: true }),
  inlineExtraUs: fc.double({ min: 0.1, max: 5, noNaN: true }),
  workers: fc.integer({ min: 1, max: 8 }),
});
const seed = fc.integer({ min: 1, max: 1_000_000 });

test("the steady state is within 15 % of the better place, or of what the budget allows, on any machine with any work", () => {
  fc.assert(
    fc.property(
      machine,
      fc.double({ min: 0.05, max: 3000, noNaN: true }),
      fc.integer({ min: 1, max: 100 }),
      (facts, us, count) => {
        const world = Object.assign(new World(), facts);
        for (let calls = 0; calls < 6000; calls += count) world.batch(times(count, us));
        let auto = 0;
        let best = 0;
        for (let calls = 0; calls < 6000; calls += count) {
          const played = world.batch(times(count, us));
          // The simulation adds up call times; this allows for rounding.
          expect(played.heldUs).toBeLessThanOrEqual(world.budgetUs + 0.001);
          auto += played.totalUs;
          const worker = world.batch(times(count, us), "worker").totalUs;
          const inline = world.batch(times(count, us), "inline").totalUs;
          // All-inline is no option when it would block the thread beyond the budget, or when a single run might, before one was tried.
          best += Math.max(inline, us) <= world.budgetUs / 2.5 ? Math.min(worker, inline) : worker;
        }
        // A worker's clock has whole microseconds, so shorter runs are known to half a microsecond at best.
        expect(auto).toBeLessThan(best * 1.15 + 6000 * 0.5);
      },
    ),
    { numRuns: 60 },
  );
});

test("a call runs inline only when its upper bound fits the rest of the turn's budget", () => {
  fc.assert(
    fc.property(
      machine,
      seed,
      fc.array(fc.double({ min: 0.1, max: 5000, noNaN: true }), { minLength: 1, maxLength: 4 }),
      (facts, start, costs) => {
        const draw = random(start);
        const world = Object.assign(new World(), facts);
        const predicted: [placed: boolean, upperUs: number, leftUs: number, backingOff: boolean][] = [];
        const { place } = Model.prototype;
        world.model.place = (profile, burst, burstId, workers, leftUs) => {
          const backingOff = world.model.backoff.active;
          const where = place.call(world.model, profile, burst, burstId, workers, leftUs);
          predicted.push([where !== "worker", profile?.upperUs ?? 0, leftUs, backingOff]);
          return where;
        };
        for (let round = 0; round < 200; round++) {
          world.batch(times(1 + Math.floor(draw() * 30), () => costs[Math.floor(draw() * costs.length)]!));
        }
        for (const [placed, upperUs, leftUs, backingOff] of predicted) {
          if (!placed) continue;
          expect(upperUs).toBeLessThanOrEqual(leftUs);
          expect(backingOff).toBe(false);
        }
      },
    ),
    { numRuns: 100 },
  );
});

test("no call runs inline during the back-off after an overrun, whatever calls cost", () => {
  fc.assert(
    fc.property(machine, seed, (facts, start) => {
      const draw = random(start);
      const world = Object.assign(new World(), facts);
      let left = 0;
      for (let call = 0; call < 5000; call++) {
        const { times: before } = world.model.backoff;
        const played = world.batch(times(1, () => (draw() < 0.002 ? 4000 : 1)));
        if (left > 0) expect(played.inline).toBe(0);
        left = world.model.backoff.times > before ? world.model.backoff.callsLeft : Math.max(0, left - 1);
      }
    }),
    { numRuns: 50 },
  );
});

test("a task that becomes long stalls at most three times in 2000 calls, and never again while it stays long", () => {
  fc.assert(
    fc.property(machine, fc.double({ min: 1200, max: 50_000, noNaN: true }), (facts, longUs) => {
      const world = Object.assign(new World(), facts);
      for (let call = 0; call < 3000; call++) world.batch(times(1, 1));
      const stallsIn = (calls: number) => {
        let stalls = 0;
        for (let call = 0; call < calls; call++) stalls += world.batch(times(1, longUs)).longestUs > 1000 ? 1 : 0;
        return stalls;
      };
      expect(stallsIn(2000)).toBeLessThanOrEqual(3);
      expect(stallsIn(2000)).toBe(0);
    }),
    { numRuns: 50 },
  );
});
