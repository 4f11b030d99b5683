// SPDX-License-Identifier: MIT OR Apache-2.0
import { expect, test } from "vitest";
import { measurePair, warmUp } from "../../src/engine/pair.js";
import type { Arm, Costs } from "../../src/protocol/arm.js";

const SLICING = { ms: 9, runs: 1, blocks: 8, pairsMin: 4 };
const costs = (...costsNs: number[]): Costs => ({ costsNs, calls: 1, cpuMs: 40 });

test("a pair is blocks of ABBA or BAAB, and the random source chooses", async () => {
  const order: string[] = [];
  const draws = [0.1, 0.9];
  const take = async (side: string) => {
    order.push(side[0]!);
    return costs(10);
  };
  await measurePair(take, { ...SLICING, blocks: 2 }, () => draws.shift()!);
  expect(order.join("")).toBe("srrsrssr");
});

test("a pair's ratio does not depend on the speed of the machine, which changes from slice to slice", async () => {
  let slice = 0;
  const take = async (side: string) => costs((side === "subject" ? 12 : 10) * 1.2 ** (Math.floor(slice++ / 2) % 3));
  const { log, stillWarming } = await measurePair(take, SLICING, () => 0.9);
  expect(Math.exp(log)).toBeCloseTo(1.2, 6);
  expect(stillWarming).toBe(false);
});

test("a pair drops its first third and measures as much again if the ratio moved", async () => {
  let slices = 0;
  // The subject becomes as fast as the reference after the first third.
  const take = async (side: string) => costs(side === "subject" && slices++ < 5 ? 13 : 10);
  const { log, stillWarming } = await measurePair(take, SLICING, () => 0.1);
  expect(Math.exp(log)).toBeCloseTo(1, 6);
  expect(stillWarming).toBe(false);
});

test("a pair says so if its ratio still moves", async () => {
  let slices = 0;
  const take = async (side: string) => costs(side === "subject" ? 10 * 0.98 ** slices++ : 10);
  expect((await measurePair(take, SLICING, () => 0.1)).stillWarming).toBe(true);
});

function warmingArm(windows: number[]): Arm & { asked: unknown[] } {
  const asked: unknown[] = [];
  return {
    asked,
    warm: async (work, calls, cpuMs) => {
      asked.push(["warm", work, calls, cpuMs]);
      return costs(1);
    },
    slice: async (work, ms) => {
      asked.push(["slice", work, ms]);
      return costs(windows.shift() ?? 10);
    },
    pin: () => {},
    end: async () => {},
  };
}

test("a warm-up counts calls, and ends after three windows without a gain of 3 %", async () => {
  const arm = warmingArm([30, 20, 10, 10, 9.9, 9.8]);
  await warmUp(arm, { work: "call", calls: 8000 });
  expect(arm.asked[0]).toEqual(["warm", "call", 8000, 1000]);
  expect(arm.asked.slice(1)).toEqual(Array.from({ length: 6 }, () => ["slice", "call", 40]));
});

test("a warm-up ends although every window is faster", async () => {
  const arm = warmingArm(Array.from({ length: 200 }, (_, at) => 1000 * 0.9 ** at));
  await warmUp(arm, { work: "call", calls: 8000 });
  expect(arm.asked.length).toBeLessThan(40);
});

test("slow work is warmed up by other work, and by as many calls as it says", async () => {
  const arm = warmingArm([]);
  await warmUp(arm, { work: "few-rows", calls: 1 });
  expect(arm.asked[0]).toEqual(["warm", "few-rows", 1, 1000]);
  expect(arm.asked.slice(1)).toEqual(Array.from({ length: 4 }, () => ["slice", "few-rows", 40]));
});
