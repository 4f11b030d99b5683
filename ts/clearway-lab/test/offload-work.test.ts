// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests the actions of a batch. Every language with cells of this family has the same actions.
import { describe, expect, test } from "vitest";
import { actionOf, actions, checkOf } from "../src/offload/action.js";
import { batchesToSettle } from "../src/offload/changing.js";
import { works } from "../src/offload/mechanisms.js";
import { seedsInOrder } from "../src/offload/seeds.js";
import { loadScenarios } from "../src/scenario/load.js";

const scenario = loadScenarios().find(({ name }) => name === "works");

describe("an action", () => {
  test("returns the same result blocking and asynchronously", async () => {
    for (const seed of [0, 1, 6, 9, 20]) {
      for (const name of ["storage", "mixed", "bimodal"] as const) {
        const there = await actionOf(`${name}Async`)(seed);
        expect([name, actionOf(name)(seed)]).toEqual([name, there]);
      }
    }
  });

  test("computes the function that its name stands for", () => {
    expect([actions.arithmetic(0), actions.arithmetic(3)]).toEqual([1, 27]);
    // The list is 0.3, 1.3, 2.3 and so on. The squares are above 5 from the third item on.
    expect([actions.lists(0), actions.lists(2), actions.lists(3), actions.lists(99)]).toEqual([0, 0, 1, 97]);
    expect(actions.spin(1000)).toBe(1);
    expect([actions.changing("a3"), actions.changing("s3")]).toEqual([27, 3]);
  });

  test("has the checksum that the scenario file expects", () => {
    const seeds = seedsInOrder("ascending", 100);
    const sums: Record<string, number> = {
      arithmetic: checkOf(seeds.map(actions.arithmetic)).checksum,
      lists: checkOf(seeds.map(actions.lists)).checksum,
      storage: checkOf(seeds).checksum,
      network: checkOf(seeds).checksum,
    };
    for (const { sets } of Object.values(scenario?.profiles ?? {})) {
      for (const { params } of sets) {
        const sum = sums[String(params["work"])];
        if (sum !== undefined) expect(params["checksum"]).toBe(sum);
      }
    }
  });
});

test("a shuffled batch has every seed once, always in the same order", () => {
  const shuffled = seedsInOrder("shuffled", 100);
  expect([...shuffled].sort((a, b) => a - b)).toEqual(seedsInOrder("ascending", 100));
  expect(shuffled).not.toEqual(seedsInOrder("ascending", 100));
  expect(shuffled.slice(0, 5)).toEqual(seedsInOrder("shuffled", 100).slice(0, 5));
  expect(() => seedsInOrder("backwards", 3)).toThrow("order=backwards");
});

test("batches have settled when two in a row take as long as the last ones", () => {
  expect(batchesToSettle([9, 1, 9, 1.2, 1, 1], 1)).toBe(3);
  expect(batchesToSettle([1, 1], 1)).toBe(0);
  expect(batchesToSettle([9, 9, 1], 1)).toBe(3);
});

describe("a strategy on the calling thread", () => {
  const params = {
    work: "mixed",
    waits: "async",
    order: "shuffled",
    actions: 12,
    checksum: checkOf(seedsInOrder("ascending", 12).map(actions.mixed)).checksum,
    networkUs: 100,
    warmMs: 0,
    batches: 2,
    batchesMs: 10_000,
  };
  const fixture = { httpUrl: "", echoPort: 0, idlePort: 0, feedUrl: "", filePath: "" };

  test.each(["direct", "promises", "rxjs"])("%s has times for cold and warm batches, and its costs", async (name) => {
    const { values, samples, result } = (await works[name]?.({ params, fixture })) ?? {};
    expect(result).toEqual({ done: 12, checksum: params.checksum });
    expect(samples?.["batchTimes"]?.ns).toHaveLength(2);
    expect(Object.keys(values ?? {})).toEqual(
      expect.arrayContaining(["coldBatch", "batch", "perTask", "held", "cpuTime", "allocations", "batches"]),
    );
    expect(Object.values(values ?? {}).every(({ value }) => Number.isFinite(value) && value >= 0)).toBe(true);
  });

  test("is refused when its result is wrong or its work is unknown", async () => {
    await expect(works["direct"]?.({ params: { ...params, checksum: 1 }, fixture })).rejects.toThrow("expected 1");
    await expect(works["direct"]?.({ params: { ...params, work: "play" }, fixture })).rejects.toThrow("work=playAsync");
  });
});
