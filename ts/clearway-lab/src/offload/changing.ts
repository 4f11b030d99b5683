// SPDX-License-Identifier: MIT OR Apache-2.0
// Scenario changing-site: one call site computes, then waits, then computes again. The scenario measures how long a strategy takes
// to adapt.
import { nowMs } from "#lab-host";
import { type Mechanism, numberParam } from "../protocol/measured.js";
import type { Value } from "../protocol/message.js";
import { median } from "../statistics/compare.js";
import { checkOf } from "./action.js";
import { closeWithTimeout, timeBatches } from "./batches.js";
import { seedsInOrder } from "./seeds.js";
import type { Strategy } from "./strategy.js";

/**
 * A batch is settled if it takes at most this many times the settled time of its phase. Usual variation is smaller.
 */
const SETTLED_RATIO = 1.25;
/** Number of settled batches in a row that end the adaptation. A single fast batch may be luck. */
const SETTLED_BATCHES = 2;

export function changingMechanism(strategy: Strategy): Mechanism {
  return async ({ params }) => {
    const batchCount = numberParam(params, "batches");
    const seeds = seedsInOrder("ascending", numberParam(params, "actions"));
    const checksums = { a: checkOf(seeds.map((seed) => seed ** seed)).checksum, s: checkOf(seeds).checksum };
    // The waiting actions block their thread, so the strategy is made for blocking actions.
    const executor = await strategy("blocking");
    try {
      await executor.start();
      const phase = async (kind: "a" | "s", count = batchCount) => {
        const args = seeds.map((seed) => kind + seed);
        const work = { name: "changing", args, checksum: checksums[kind] } as const;
        const times = await timeBatches(executor, work, { countMin: count, countMax: count, timeMsMax: 0 });
        return times.map(({ ms }) => ms);
      };
      await phase("a");
      const from = nowMs();
      const first = await phase("a");
      const second = await phase("s");
      const third = await phase("a");
      const total = nowMs() - from;
      const [before, after, back] = [first, second, third].map(settledMs) as [number, number, number];
      const ms = (value: number): Value => ({ unit: "ms", value });
      const number = (value: number): Value => ({ unit: "count", value });
      return {
        samples: {},
        values: {
          total: ms(total),
          before: ms(before),
          firstAfter: ms(second[0] as number),
          after: ms(after),
          recover: number(batchesToSettle(second, after)),
          firstBack: ms(third[0] as number),
          back: ms(back),
          recoverBack: number(batchesToSettle(third, back)),
        },
        result: { phases: 3 },
      };
    } finally {
      await closeWithTimeout(executor);
    }
  };
}

/** Returns the settled time of a phase: the median of its second half, in milliseconds. */
function settledMs(ms: readonly number[]): number {
  return median(ms.slice(Math.floor(ms.length / 2)));
}

/** Returns how many batches run before several in a row are settled. Returns the number of all batches if that never happens. */
export function batchesToSettle(ms: readonly number[], settled: number): number {
  for (let at = 0; at + SETTLED_BATCHES <= ms.length; at++) {
    if (ms.slice(at, at + SETTLED_BATCHES).every((each) => each <= settled * SETTLED_RATIO)) return at;
  }
  return ms.length;
}
