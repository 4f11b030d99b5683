// SPDX-License-Identifier: MIT OR Apache-2.0
import { workerUrl } from "#lab-host";
import type { ActionName, Argument } from "./action.js";
import { concurrentBatch } from "./concurrent-batch.js";
import { BLOCKING_THREADS, CONCURRENT_ACTIONS_MAX, type Strategy } from "./strategy.js";

/** Makes one pool per cell. Its size suits the work, as for the tuned Piscina: a pool's owner knows the work. */
const clearway: Strategy = async (waits) => {
  const { pool } = await import("clearway");
  const openPool = () =>
    pool<typeof import("../work/offload-tasks.js")>(workerUrl("offload-tasks"), {
      size: waits === "blocking" ? BLOCKING_THREADS : "cpu",
      ...(waits === "async" ? { concurrency: CONCURRENT_ACTIONS_MAX } : {}),
    });
  let workers: ReturnType<typeof openPool>;
  let calls: Record<ActionName, (argument: Argument) => Promise<number>>;
  return {
    start: () => {
      workers = openPool();
      calls = workers.call as unknown as typeof calls;
    },
    run: concurrentBatch((name, argument) => calls[name](argument)),
    close: () => workers.close(),
  };
};

export const clearwayStrategies: Record<string, Strategy> = { "clearway-worker": clearway };
