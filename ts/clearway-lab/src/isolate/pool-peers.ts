// SPDX-License-Identifier: MIT OR Apache-2.0
// The pools from npm with one worker each, used as in their documentation.

import { workerUrl } from "#lab-host";
import type { Mechanism } from "../protocol/measured.js";
import { type PoolUnderTest, poolMechanism } from "./pool.js";
import type { PoolTask } from "./pool-task.js";

/** Piscina for small tasks: its worker takes a hundred at once, and its histograms are off. */
export const piscinaTuned = (): Promise<PoolUnderTest> =>
  piscina({ concurrentTasksPerWorker: 100, recordTiming: false });

export async function piscina(
  options: { concurrentTasksPerWorker?: number; recordTiming?: boolean } = {},
): Promise<PoolUnderTest> {
  const { Piscina } = await import("piscina");
  let pool: InstanceType<typeof Piscina>;
  return {
    start: () => {
      pool = new Piscina({ filename: workerUrl("pool-function").href, minThreads: 1, maxThreads: 1, ...options });
      pool.on("error", () => {});
    },
    call: (task) => pool.run(task) as Promise<number>,
    close: () => pool.destroy(),
  };
}

async function tinypool(): Promise<PoolUnderTest> {
  const { Tinypool } = await import("tinypool");
  let pool: InstanceType<typeof Tinypool>;
  return {
    start: () => {
      pool = new Tinypool({ filename: workerUrl("pool-function").href, minThreads: 1, maxThreads: 1 });
    },
    call: (task) => pool.run(task) as Promise<number>,
    close: () => pool.destroy(),
  };
}

async function poolifier(): Promise<PoolUnderTest> {
  const { FixedThreadPool } = await import("poolifier");
  const { fileURLToPath } = await import("node:url");
  let pool: InstanceType<typeof FixedThreadPool<PoolTask, number>>;
  return {
    start: () => {
      pool = new FixedThreadPool<PoolTask, number>(1, fileURLToPath(workerUrl("pool-poolifier")), {
        errorHandler: () => {},
      });
    },
    call: (task) => pool.execute(task) as Promise<number>,
    close: () => pool.destroy(),
  };
}

export const nodePools: Record<string, Mechanism> = {
  piscina: poolMechanism(() => piscina()),
  tinypool: poolMechanism(tinypool),
  poolifier: poolMechanism(poolifier),
};
