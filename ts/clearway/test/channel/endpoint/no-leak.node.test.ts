// SPDX-License-Identifier: MIT OR Apache-2.0
import { expect, test } from "vitest";
import fc, { cases, seed } from "../../fixtures/fast-check.js";
import { HeapWatch, watchLeft } from "../../pool/chaos/left-behind.js";
import { play, type Step, step } from "./chaos.js";
import { transports } from "./pairs.js";

// How many plans in all; `CLEARWAY_FUZZ_RUNS` plays more.
const runs = cases(200);

// The watchdog of hanging promises is the plan's own; this ends the test if even that should fail.
const timeout = 120_000 + runs * 200;

test(`no order of calls, streams and ends leaves a handle, a listener or memory (seed ${seed})`, {
  timeout,
}, async () => {
  const order = fc.record({
    carrier: fc.constantFrom(...Object.keys(transports)),
    wire: fc.constantFrom("clearway" as const, "plain" as const),
    steps: fc.array(step, { minLength: 1, maxLength: 25 }),
  });
  const heap = new HeapWatch(runs);
  const left = watchLeft();
  const playing = async (each: { carrier: string; wire: "clearway" | "plain"; steps: Step[] }): Promise<void> => {
    await play(each.carrier, each.wire, each.steps);
    heap.played();
  };
  await fc.assert(fc.asyncProperty(order, playing), { numRuns: runs, seed });
  expect(await left()).toEqual([]);
  expect(heap.grown()).toBeUndefined();
});
