// SPDX-License-Identifier: MIT OR Apache-2.0
// Child processes, too: random orders end processes at any moment.
import { getEventListeners, once } from "node:events";
import type { Worker } from "node:worker_threads";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import fc, { cases, seed } from "../fixtures/fast-check.js";
import { inProcesses } from "../fixtures/pools.js";
import { HeapWatch, watchLeft } from "./chaos/left-behind.js";
import { failedOnce, type Plan, plans } from "./chaos/plan.js";
import { play, type Surroundings } from "./chaos/play.js";
import { Watch } from "./chaos/watch.js";

// Number of plans. `CLEARWAY_FUZZ_RUNS=5000` runs for a night.
const runs = cases(100);
// The seed is in the tests' names. A failing run prints it with the path to the failed plan. `CLEARWAY_FUZZ_SEED` and
// `CLEARWAY_FUZZ_PATH` repeat that plan, and `CLEARWAY_FUZZ_SHRINK=1` searches for a smaller one. That takes long when a plan hangs,
// because each attempt waits for the watchdog.
const endOnFailure = process.env["CLEARWAY_FUZZ_SHRINK"] !== "1";
// `CLEARWAY_FUZZ_WATCH_MS=2000` shrinks faster.
const watchMs = Number(process.env["CLEARWAY_FUZZ_WATCH_MS"] ?? 120_000);

const living = new Set<Worker>();
const stray: unknown[] = [];
const started = (worker: Worker): void => {
  living.add(worker);
  worker.once("exit", () => living.delete(worker));
};
const caught = (reason: unknown): void => void stray.push(reason);

const surroundings: Surroundings = {
  watchMs,
  url: new URL("../fixtures/built/chaos.tasks.js", import.meta.url),
  listeners: (signal) => getEventListeners(signal, "abort").length,
  poolOptions: {
    module: () => import("../fixtures/chaos.tasks.js"),
    // A process prints the reason when V8 ends it.
    ...(inProcesses && { processes: true, stderr: { write() {} } }),
  },
  noWorkerLeft: async () => {
    // A thread inside native code ends when that code returns.
    const ends = new Watch();
    for (const worker of living) void ends.follow("the end of a worker", once(worker, "exit"));
    await ends.all(watchMs);
    const children = process.getActiveResourcesInfo().filter((kind) => kind === "ProcessWrap").length;
    if (children > 0) throw new Error(`${children} child processes are left`);
  },
  stray: async () => {
    // Node reports unhandled rejections after the microtasks of a turn.
    await new Promise((resolve) => setImmediate(resolve));
    return stray.splice(0);
  },
};

beforeAll(() => {
  process.on("worker", started);
  process.on("unhandledRejection", caught);
  process.on("uncaughtException", caught);
});

afterAll(() => {
  process.off("worker", started);
  process.off("unhandledRejection", caught);
  process.off("uncaughtException", caught);
});

// With child processes, everything is a copy, so that `strict` refuses nearly every call.
function playable(plan: Plan): Plan {
  if (!inProcesses) return plan;
  const commands = plan.commands.map((each) =>
    "options" in each ? { ...each, options: { ...each.options, strict: false } } : each,
  );
  return { ...plan, commands };
}

// The watchdog ends a plan that hangs. This ends the test if the watchdog fails, too. Neither limits a plan that progresses.
const timeout = 600_000 + runs * 2000;

describe(`no call ever hangs (seed ${seed})`, () => {
  test("at any sequence of calls, cancels, kills and closes", { timeout }, async () => {
    const heap = new HeapWatch(runs);
    const left = watchLeft();
    const playing = async (plan: Plan): Promise<void> => {
      await play(playable(plan), surroundings);
      heap.played();
    };
    await fc.assert(fc.asyncProperty(plans(24), playing), {
      numRuns: runs,
      seed,
      endOnFailure,
      examples: failedOnce.map((plan) => [plan]),
      ...(process.env["CLEARWAY_FUZZ_PATH"] && { path: process.env["CLEARWAY_FUZZ_PATH"] }),
    });
    expect(await left()).toEqual([]);
    expect(heap.grown()).toBeUndefined();
  });

  test("when a worker runs out of memory during other calls", { timeout }, async () => {
    const resourceLimits = { maxOldGenerationSizeMb: 24 };
    const limited = { ...surroundings, poolOptions: { ...surroundings.poolOptions, resourceLimits } };
    const withMemory = plans(10).map((plan): Plan => {
      const at = Math.floor(plan.commands.length / 2);
      const commands = plan.commands.toSpliced(at, 0, { do: "call", task: "memory", n: 0, options: {} });
      return { ...plan, commands };
    });
    const playing = (plan: Plan): Promise<void> => play(playable(plan), limited);
    await fc.assert(fc.asyncProperty(withMemory, playing), { numRuns: Math.ceil(runs / 15), seed, endOnFailure });
  });

  test("and this check detects a call that does", async () => {
    const plan: Plan = {
      size: { min: 1, max: 1 },
      concurrency: 1,
      queueItems: 10,
      whenFull: "wait",
      metrics: false,
      recycleTasks: 10,
      warm: true,
      commands: [{ do: "call", task: "deaf", n: 0, options: {} }],
      ending: "drain",
    };
    // Without its limit, a deaf task never answers.
    const endless = { ...surroundings, forcedTimeoutMs: 2 ** 31 - 1, watchMs: 200 };
    await expect(play(plan, endless)).rejects.toThrow("not settled after 200 ms:\n  0 deaf(0)");
  });
});
