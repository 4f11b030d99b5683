// SPDX-License-Identifier: MIT OR Apache-2.0
// A batch of a hundred actions, by one way of running them.
import { availableParallelism } from "node:os";
import { nowMs, turn, workerUrl } from "#lab-host";
import type { OpenArm, Work } from "../work.js";
import { type ActionName, actions, shuffledSeeds } from "./batch-actions.js";

/** Number of threads: four per core, a rule of thumb for pools of blocking calls. */
const THREADS = 4 * availableParallelism();
const SEEDS = shuffledSeeds();

interface Executor {
  /** Runs an action for each seed. Returns an array if nothing had to wait. */
  run(name: ActionName): number[] | Promise<number[]>;
  close(): unknown;
}

const sum = (results: readonly number[]): number => results.reduce((total, result) => total + result, 0);

const arm =
  (open: () => Executor | Promise<Executor>): OpenArm =>
  async () => {
    const executor = await open();
    const work = (name: ActionName): Work => {
      const expected = name === "storage" ? sum(SEEDS) : sum(SEEDS.map(actions[name]));
      return {
        calls: 1,
        async run(costsNs) {
          // Each batch starts in its own turn of the event loop, as in an app.
          await turn();
          const from = nowMs();
          const pending = executor.run(name);
          const results = pending instanceof Promise ? await pending : pending;
          costsNs.push((nowMs() - from) * 1e6);
          if (results.length !== SEEDS.length || sum(results) !== expected)
            throw new Error(`the batch's results are wrong: sum=${sum(results)}, expected ${expected}`);
        },
      };
    };
    return { works: { lists: work("lists"), storage: work("storage") }, close: () => executor.close() };
  };

export const direct: OpenArm = arm(() => ({ run: (name) => SEEDS.map(actions[name]), close: () => {} }));

export const clearway: OpenArm = arm(async () => {
  const { pool } = await import("clearway");
  const workers = pool<typeof import("../../work/offload-tasks.js")>(workerUrl("offload-tasks"), { size: THREADS });
  return {
    run: (name) => Promise.all(SEEDS.map((seed) => workers.call[name](seed))),
    close: () => workers.close(),
  };
});

/** Uses a fixed number of threads, so that no thread starts during a batch or ends between two batches. */
export const piscina: OpenArm = arm(async () => {
  const { Piscina } = await import("piscina");
  const pool = new Piscina({
    ...{ filename: workerUrl("offload-function").href, minThreads: THREADS, maxThreads: THREADS },
  });
  return {
    run: (name) => Promise.all(SEEDS.map((seed) => pool.run(seed, { name }) as Promise<number>)),
    close: () => pool.destroy(),
  };
});
