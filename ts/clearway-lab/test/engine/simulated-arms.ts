// SPDX-License-Identifier: MIT OR Apache-2.0
// Arms whose costs come from a seeded random source, on a clock that only they move.

import type { Comparison } from "../../src/engine/comparison.js";
import type { Bench } from "../../src/engine/run.js";
import type { Arm, Costs } from "../../src/protocol/arm.js";
import { randomFrom } from "../../src/statistics/random.js";

/** Returns standard normal numbers (Box and Muller, 1958). */
export function normalFrom(random: () => number): () => number {
  return () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

/** How a machine disturbs processes. `process` is drawn once for each process, `slice` for each slice; both are logarithms. */
export interface Disturbance {
  process(normal: () => number, random: () => number): number;
  slice(normal: () => number, random: () => number): number;
}

/** Spreads as they were measured: 0.5 to 2 % within a process, more between processes. */
export const QUIET: Disturbance = { process: (normal) => 0.01 * normal(), slice: (normal) => 0.02 * normal() };
export const NORMAL: Disturbance = { process: (normal) => 0.05 * normal(), slice: (normal) => 0.1 * normal() };
/** Student's t with three degrees of freedom. */
export const HEAVY_TAILS: Disturbance = {
  process: (normal) => (0.03 * normal()) / Math.sqrt((normal() ** 2 + normal() ** 2 + normal() ** 2) / 3),
  slice: NORMAL.slice,
};
/** Each process has one of two speeds, which differ by a tenth or more: where its memory lies, how its code was compiled. */
export const twoSpeeds = (apart: number): Disturbance => ({
  process: (normal, random) => (random() < 0.5 ? apart : 0) + 0.02 * normal(),
  slice: (normal) => 0.02 * normal(),
});

export interface SimulatedBench extends Bench {
  /** What was asked of the arms, in order: "open A", "warm A", "slice A", "end A". */
  readonly asked: string[];
}

/** Returns a machine with arms that cost 10 us a call, times their factor. The arms' names are the keys of `factors`. */
export function simulatedBench(
  seed: number,
  disturbance: Disturbance,
  factors: Record<string, number>,
): SimulatedBench {
  const random = randomFrom(seed);
  const normal = normalFrom(random);
  const asked: string[] = [];
  let now = 0;
  return {
    asked,
    nowMs: () => now,
    random,
    sleep: async (ms) => {
      now += ms;
    },
    open: async (_, name) => {
      const factor = factors[name];
      if (factor === undefined) throw new Error(`${name} is not installed`);
      asked.push(`open ${name}`);
      now += 100;
      const speed = Math.log(factor) + disturbance.process(normal, random);
      const costs = (ms: number, calls = 1): Costs => {
        now += ms;
        return { costsNs: [10_000 * Math.exp(speed + disturbance.slice(normal, random))], calls, cpuMs: ms };
      };
      return {
        warm: async (_work, calls) => {
          asked.push(`warm ${name}`);
          return costs(100, calls);
        },
        slice: async (_work, ms) => {
          asked.push(`slice ${name}`);
          return costs(ms);
        },
        pin: () => {},
        end: async () => {
          asked.push(`end ${name}`);
        },
      } satisfies Arm;
    },
  };
}

/** Returns a comparison of two simulated arms. */
export function comparisonOf(
  name: string,
  subject: string,
  reference: string,
  own: Partial<Comparison> = {},
): Comparison {
  return {
    ...{ name, host: "node", subject, reference, work: "call", cores: "free" },
    ...{ slicing: { ms: 9, runs: 1, blocks: 8, pairsMin: 4 }, thing: "A call", peer: "another's", setUp: "simulated" },
    ...own,
  };
}
