// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs every strategy in the built runner, with its real library and workers. Checks that the results are right and nothing hangs.
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { actions, checkOf } from "../src/offload/action.js";
import { seedsInOrder } from "../src/offload/seeds.js";
import type { Json, Params } from "../src/protocol/message.js";
import { RunnerClient } from "../src/runner/client.js";
import { loadScenarios } from "../src/scenario/load.js";
import { builtLab } from "./built-lab.js";

// A separate folder, because the tests of the command run at the same time.
const count = 12;
const checksum = checkOf(seedsInOrder("ascending", count).map(actions.mixed)).checksum;
const load = { work: "mixed", actions: count, checksum, networkUs: 100, warmMs: 0, batches: 2, batchesMs: 1 };
const [scenario] = loadScenarios().filter(({ name }) => name === "works");
const strategies = (scenario?.mechanisms ?? []).filter(({ hosts }) => hosts?.includes("node") ?? true);

const start = () => new RunnerClient({ command: process.execPath, args: [path.join(builtLab(), "runner-node.js")] });
let runner: RunnerClient;
beforeAll(() => {
  runner = start();
});
afterAll(() => runner.close());

function measure(name: string, mechanism: string, params: Params, expected: Json) {
  return runner.measure({ family: "offload", scenario: name, mechanism, params, expected }, 60_000);
}

test.each(strategies.map(({ name }) => name))(
  "%s runs a batch of blocking actions and one of asynchronous actions",
  async (name) => {
    for (const [waits, order] of [
      ["blocking", "shuffled"],
      ["async", "ascending"],
    ] as const) {
      const expected = { done: "$actions", checksum: "$checksum" };
      const { values, result } = await measure("works", name, { ...load, waits, order }, expected);
      expect(result).toEqual({ done: count, checksum });
      expect(values["coldBatch"]?.value).toBeGreaterThan(0);
    }
  },
);

test("computing work is marked as not warm when its warm-up batches did not show a plateau", async () => {
  const cut = async (work: "arithmetic" | "storage", warmMs: number) => {
    const { checksum } = checkOf(seedsInOrder("ascending", count).map(actions[work]));
    const params = { ...load, work, checksum, warmMs, waits: "blocking", order: "ascending" };
    const { values } = await measure("works", "direct", params, { done: count, checksum });
    return "warmUpCut" in values;
  };
  expect(await cut("arithmetic", 0)).toBe(true);
  // The maximum number of warm-up batches ends this warm-up, long before its time limit.
  expect(await cut("arithmetic", 10_000)).toBe(false);
  expect(await cut("storage", 0)).toBe(false);
});

test("a pool has the number of workers in its settings", async () => {
  const threads = async (mechanism: string) => {
    // A separate process, because threads of earlier pools may still be running.
    const alone = start();
    const params = { ...load, waits: "blocking", order: "ascending" };
    const cell = { family: "offload", scenario: "works", mechanism, params, expected: { done: count } };
    const { values } = await alone.measure(cell, 60_000).finally(() => alone.close());
    return values["peakThreads"]?.value;
  };
  const [direct, comlink, tuned] = [await threads("direct"), await threads("comlink"), await threads("piscina-tuned")];
  // There is no figure on systems that do not report threads.
  if (direct === undefined) return;
  expect([direct, comlink]).toEqual([0, 1]);
  expect(tuned).toBeGreaterThanOrEqual(4);
});

test("a sweep has a time for every size, and a changing site has a time for every phase", async () => {
  const sweep = await measure("sizes", "clearway-worker", { actions: 4, sweepMs: 1 }, { sizes: 8 });
  expect(Object.values(sweep.values).every(({ value }) => value > 0)).toBe(true);
  const changing = await measure(
    "changing-site",
    "clearway-worker",
    { actions: 4, batches: 4 },
    {
      phases: 3,
    },
  );
  expect(Object.keys(changing.values)).toEqual(
    expect.arrayContaining(["total", "before", "firstAfter", "after", "recover", "firstBack", "back", "recoverBack"]),
  );
});
