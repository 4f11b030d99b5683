// SPDX-License-Identifier: MIT OR Apache-2.0
// A batch of a hundred actions, by one way of running them.
import { turn } from "#lab-host";
import { type ActionName, actionOf, checkOf } from "../../offload/action.js";
import { timeBatch } from "../../offload/batches.js";
import { clearwayStrategies } from "../../offload/clearway.js";
import { onThreadStrategies } from "../../offload/on-thread.js";
import { poolStrategies } from "../../offload/pools.js";
import { seedsInOrder } from "../../offload/seeds.js";
import type { Strategy } from "../../offload/strategy.js";
import type { OpenArm, Work } from "../work.js";

const ARGS = seedsInOrder("shuffled", 100);

/** `lists` computes for some microseconds an action; `storage` blocks its thread for 0.5 to 1.5 ms an action. */
const arm =
  (strategy: Strategy): OpenArm =>
  async () => {
    const executor = await strategy("blocking");
    await executor.start();
    const work = (name: ActionName): Work => {
      const { checksum } = checkOf(name === "storage" ? ARGS : ARGS.map((seed) => actionOf(name)(seed) as number));
      return {
        calls: 1,
        async run(costsNs) {
          // Each batch starts in its own turn of the event loop, as in an app.
          await turn();
          costsNs.push((await timeBatch(executor, { name, args: ARGS, checksum })).ms * 1e6);
        },
      };
    };
    return { works: { lists: work("lists"), storage: work("storage") }, close: () => executor.close() };
  };

export const direct: OpenArm = arm(onThreadStrategies["direct"]!);
export const clearway: OpenArm = arm(clearwayStrategies["clearway-worker"]!);
export const piscina: OpenArm = arm(poolStrategies["piscina-tuned"]!);
