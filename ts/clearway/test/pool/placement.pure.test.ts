// SPDX-License-Identifier: MIT OR Apache-2.0

import { describe, expect, test } from "vitest";
import type { PoolCall } from "../../src/pool/call/call.js";
import { placeOfKey } from "../../src/pool/options.js";
import { accepts, choose } from "../../src/pool/schedule/scheduler.js";
import { Estimate, mayGoAhead } from "../../src/pool/schedule/task-stats.js";
import type { PoolWorker } from "../../src/pool/worker/worker.js";
import fc from "../fixtures/fast-check.js";

function estimateOf(...samplesUs: number[]): Estimate {
  const estimate = new Estimate();
  for (const us of samplesUs) estimate.add(us);
  return estimate;
}

const eight = (us: number): Estimate => estimateOf(...new Array<number>(8).fill(us));

/** What placement looks at, of a worker and of a call. */
const worker = (
  over: { state?: string; load?: number; guarded?: number; busyUs?: number; tasksRun?: number } = {},
): PoolWorker<PoolCall> => {
  const { state = "ready", ...rest } = over;
  return { life: { state }, load: 0, guarded: 0, busyUs: 0, tasksRun: 0, ...rest } as unknown as PoolWorker<PoolCall>;
};
const call = (estimate: Estimate, guarded = false): PoolCall =>
  ({ guarded, record: { estimate } }) as unknown as PoolCall;

describe("the estimate of a task", () => {
  test("is unknown until the task has run eight times", () => {
    expect(estimateOf(1, 1, 1, 1, 1, 1, 1).meanUs).toBeUndefined();
    expect(estimateOf(1, 1, 1, 1, 1, 1, 1).short).toBe(false);
    expect(eight(10).meanUs).toBeCloseTo(10);
    expect(eight(10).short).toBe(true);
  });

  test("is long once every run took more than 200 us, until one takes less", () => {
    expect(estimateOf().long).toBe(false);
    expect(estimateOf(5000).long).toBe(true);
    expect(estimateOf(5000, 150).long).toBe(false);
    // What was short once is long again when it has been for a while.
    expect(estimateOf(150, ...new Array<number>(20).fill(5000)).long).toBe(true);
  });

  test("stays between the least and the most that the task took, half a microsecond at least", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 1e6 }), { minLength: 8, maxLength: 200 }), (samples) => {
        const { meanUs } = estimateOf(...samples);
        expect(meanUs).toBeGreaterThanOrEqual(Math.max(0.5, Math.min(...samples) - 1e-6));
        expect(meanUs).toBeLessThanOrEqual(Math.max(0.5, Math.max(...samples) + 1e-6));
      }),
    );
  });

  test("remembers one slow run for a while", () => {
    const estimate = eight(10);
    estimate.add(1_100);
    for (let turn = 0; turn < 5; turn++) estimate.add(10);
    expect(estimate.short).toBe(false);
    for (let turn = 0; turn < 200; turn++) estimate.add(10);
    expect(estimate.short).toBe(true);
  });

  test("never lets more work be sent ahead than the budget of a millisecond", () => {
    expect(mayGoAhead(eight(100), 899)).toBe(true);
    expect(mayGoAhead(eight(100), 901)).toBe(false);
    expect(mayGoAhead(eight(300), 0)).toBe(false);
    expect(mayGoAhead(new Estimate(), 0)).toBe(false);
  });
});

describe("placement", () => {
  test("gives a worker that is not ready nothing", () => {
    for (const state of ["starting", "draining", "closing", "gone"]) {
      expect(accepts(worker({ state }), call(eight(1)), 8)).toBe(false);
    }
  });

  test("fills a worker up to its concurrency", () => {
    const unknown = call(new Estimate());
    expect(accepts(worker({ load: 1 }), unknown, 2)).toBe(true);
    expect(accepts(worker({ load: 2 }), unknown, 2)).toBe(false);
  });

  test("sends short calls ahead, but none that may have to be killed, nor behind such a one", () => {
    expect(accepts(worker({ load: 1 }), call(eight(10)), 1)).toBe(true);
    expect(accepts(worker({ load: 1 }), call(eight(10), true), 1)).toBe(false);
    expect(accepts(worker({ load: 1, guarded: 1 }), call(eight(10)), 1)).toBe(false);
    expect(accepts(worker({ load: 9, busyUs: 995 }), call(eight(10)), 1)).toBe(false);
  });

  test("adds a short call to a worker that is awake rather than wake another", () => {
    const awake = worker({ load: 1, busyUs: 10 });
    expect(choose([worker(), awake], call(eight(5)), 1)).toBe(awake);
    const busy = worker({ load: 9, busyUs: 60 });
    const asleep = worker();
    expect(choose([busy, asleep], call(eight(5)), 1)).toBe(asleep);
  });

  test("otherwise takes the freest worker, and among equals the one used most", () => {
    const used = worker({ tasksRun: 5 });
    expect(choose([worker({ load: 1 }), worker(), undefined, used], call(new Estimate()), 4)).toBe(used);
    expect(choose([worker({ load: 1 })], call(new Estimate()), 1)).toBeUndefined();
  });

  test("gives a key the same place each time, within bounds, and spreads keys over all places", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.integer()), fc.integer({ min: 1, max: 64 }), (key, places) => {
        const at = placeOfKey(key, places);
        expect(at).toBe(placeOfKey(key, places));
        expect(Number.isInteger(at) && at >= 0 && at < places).toBe(true);
      }),
    );
    const hit = new Set(Array.from({ length: 200 }, (_, key) => placeOfKey(`user-${key}`, 8)));
    expect(hit.size).toBe(8);
  });
});
