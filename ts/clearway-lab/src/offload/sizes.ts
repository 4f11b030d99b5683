// SPDX-License-Identifier: MIT OR Apache-2.0
// Scenario sizes: runs one strategy with actions from 10 ns to 100 ms on a warm pool. Finds the size from which the pool is faster.
import { nowMs } from "#lab-host";
import { type Mechanism, numberParam } from "../protocol/measured.js";
import type { Value } from "../protocol/message.js";
import { median } from "../statistics/compare.js";
import { SIZES_NS } from "../statistics/sizes.js";
import { actionOf } from "./action.js";
import { closeWithTimeout, timeBatches } from "./batches.js";
import type { Strategy } from "./strategy.js";

/** Maximum number of batches in a series. A strategy that learns needs some tens of batches of short tasks, but only two of long ones. */
const WARM_BATCHES_MAX = 100;

/** Longest action that may be fastest on the calling thread, in nanoseconds. Actions up to this size get more warm-up batches. */
const INLINE_CANDIDATE_NS_MAX = 10_000;
/** Minimum number of warm-up batches of such actions, even if the pool is slow at first. */
const LEARNING_BATCHES_MIN = 12;

export function sizesMechanism(strategy: Strategy): Mechanism {
  return async ({ params }) => {
    const tasksMax = numberParam(params, "actions");
    const sweepMs = numberParam(params, "sweepMs");
    const spinStepsPerNs = stepsPerNs();
    const executor = await strategy("none");
    const values: Record<string, Value> = {};
    try {
      await executor.start();
      for (const [metric, ns] of Object.entries(SIZES_NS)) {
        const tasks = Math.max(2, Math.min(tasksMax, Math.round((sweepMs * 1e6) / ns)));
        const args = new Array<number>(tasks).fill(Math.max(1, Math.round(ns * spinStepsPerNs)));
        const work = { name: "spin", args, checksum: tasks } as const;
        const countMin = ns <= INLINE_CANDIDATE_NS_MAX ? LEARNING_BATCHES_MIN : 1;
        await timeBatches(executor, work, { countMin, countMax: WARM_BATCHES_MAX, timeMsMax: sweepMs / 4 });
        const times = await timeBatches(executor, work, {
          countMin: 1,
          countMax: WARM_BATCHES_MAX,
          timeMsMax: sweepMs / 4,
        });
        values[metric] = { unit: "us", value: (median(times.map(({ ms }) => ms)) * 1000) / tasks };
      }
    } finally {
      await closeWithTimeout(executor);
    }
    return { samples: {}, values, result: { sizes: Object.keys(values).length } };
  };
}

/** Returns the steps of `spin` per nanosecond on this machine, from the fastest of several runs of about a millisecond. */
function stepsPerNs(): number {
  const spin = actionOf("spin") as (steps: number) => number;
  const steps = 500_000;
  let fastestMs = Number.POSITIVE_INFINITY;
  for (let run = 0; run < 12; run++) {
    const from = nowMs();
    spin(steps);
    fastestMs = Math.min(fastestMs, nowMs() - from);
  }
  return steps / (fastestMs * 1e6);
}
