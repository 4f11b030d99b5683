// SPDX-License-Identifier: MIT OR Apache-2.0
// Every strategy with its real library and its real workers, through the built runner: right results, and nothing left hanging.
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { actions, checkOf } from "../src/offload/action.js";
import { seedsIn } from "../src/offload/order.js";
import type { Json, Params } from "../src/protocol/message.js";
import { RunnerClient } from "../src/runner/client.js";
import { loadScenarios } from "../src/scenario/load.js";

const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));
// A folder of its own beside the command's tests: both run at once.
const built = ".cache/test-dist-offload";
const count = 12;
const checksum = checkOf(seedsIn("ascending", count).map(actions.mixed)).checksum;
const load = { work: "mixed", actions: count, checksum, networkUs: 100, warmMs: 0, batches: 2, batchesMs: 1 };
const [scenario] = loadScenarios().filter(({ name }) => name === "works");
const strategies = (scenario?.mechanisms ?? []).filter(({ hosts }) => hosts?.includes("node") ?? true);

const start = () => new RunnerClient({ command: process.execPath, args: [here(`../${built}/runner-node.js`)] });
let runner: RunnerClient;
beforeAll(() => {
  execFileSync(process.execPath, [here("../build.mjs"), "--out", built, "--node-only"]);
  runner = start();
});
afterAll(() => runner.close());

function measure(name: string, mechanism: string, params: Params, expected: Json) {
  return runner.measure({ family: "offload", scenario: name, mechanism, params, expected }, 60_000);
}

test.each(strategies.map(({ name }) => name))(
  "%s runs a batch where actions hold their thread, and where they do not",
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

test("work that computes says that it was not warm, where its batches before did not show it", async () => {
  const cut = async (work: "arithmetic" | "storage", warmMs: number) => {
    const { checksum } = checkOf(seedsIn("ascending", count).map(actions[work]));
    const params = { ...load, work, checksum, warmMs, waits: "blocking", order: "ascending" };
    const { values } = await measure("works", "direct", params, { done: count, checksum });
    return "warmUpCut" in values;
  };
  expect(await cut("arithmetic", 0)).toBe(true);
  // Ended by the number of its batches, long before.
  expect(await cut("arithmetic", 10_000)).toBe(false);
  expect(await cut("storage", 0)).toBe(false);
});

test("a pool has the workers that its settings say", async () => {
  const threads = async (mechanism: string) => {
    // A process of its own: threads of the pools before may still be on their way out.
    const alone = start();
    const params = { ...load, waits: "blocking", order: "ascending" };
    const cell = { family: "offload", scenario: "works", mechanism, params, expected: { done: count } };
    const { values } = await alone.measure(cell, 60_000).finally(() => alone.close());
    return values["peakThreads"]?.value;
  };
  const [direct, comlink, tuned] = [await threads("direct"), await threads("comlink"), await threads("piscina-tuned")];
  // Where the system does not tell, nobody is given a number.
  if (direct === undefined) return;
  expect([direct, comlink]).toEqual([0, 1]);
  expect(tuned).toBeGreaterThanOrEqual(4);
});

test("a sweep has a time for every size, and a site that changes has its phases", async () => {
  const sweep = await measure("sizes", "clearway-auto", { actions: 4, sweepMs: 1 }, { sizes: 8 });
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
