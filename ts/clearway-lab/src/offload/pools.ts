// SPDX-License-Identifier: MIT OR Apache-2.0
// Pools from npm, used as in their documentation. The scenario files describe the settings.
import { workerUrl } from "#lab-host";
import type { Argument } from "./action.js";
import { concurrentBatch } from "./concurrent-batch.js";
import { BLOCKING_THREADS, CONCURRENT_ACTIONS_MAX, CORES, type Strategy, type WaitKind } from "./strategy.js";

function piscina(options: (waits: WaitKind) => object): Strategy {
  return async (waits) => {
    const { Piscina } = await import("piscina");
    let pool: InstanceType<typeof Piscina>;
    return {
      start: () => {
        pool = new Piscina({ filename: workerUrl("offload-function").href, ...options(waits) });
      },
      run: concurrentBatch((name, argument) => pool.run(argument, { name }) as Promise<number>),
      close: () => pool.destroy(),
    };
  };
}

/** Uses a fixed number of threads, so that no thread starts during a batch or ends between two batches. */
const tunedOptions = (waits: WaitKind): object => {
  const threads = waits === "blocking" ? BLOCKING_THREADS : CORES;
  const concurrency = waits === "async" ? { concurrentTasksPerWorker: CONCURRENT_ACTIONS_MAX } : {};
  return { minThreads: threads, maxThreads: threads, ...concurrency };
};

const tinypool: Strategy = async (waits) => {
  const { Tinypool } = await import("tinypool");
  let pool: InstanceType<typeof Tinypool>;
  return {
    start: () => {
      pool = new Tinypool({
        filename: workerUrl("offload-function").href,
        minThreads: CORES,
        maxThreads: CORES,
        ...(waits === "async" ? { concurrentTasksPerWorker: CONCURRENT_ACTIONS_MAX } : {}),
      });
    },
    run: concurrentBatch((name, argument) => pool.run(argument, { name }) as Promise<number>),
    close: () => pool.destroy(),
  };
};

const workerpool: Strategy = async () => {
  const { default: library } = await import("workerpool");
  let pool: ReturnType<typeof library.pool>;
  return {
    start: () => {
      pool = library.pool(decodeURIComponent(workerUrl("offload-workerpool").pathname), {
        workerType: "thread",
        minWorkers: CORES,
        maxWorkers: CORES,
      });
    },
    run: concurrentBatch(async (name, argument) => (await pool.exec(name, [argument])) as number),
    close: () => pool.terminate(true),
  };
};

const poolifier: Strategy = async () => {
  const { FixedThreadPool } = await import("poolifier");
  let pool: InstanceType<typeof FixedThreadPool<Argument, number>>;
  return {
    start: () => {
      pool = new FixedThreadPool<Argument, number>(CORES, decodeURIComponent(workerUrl("offload-poolifier").pathname), {
        enableTasksQueue: true,
        tasksQueueOptions: { concurrency: CONCURRENT_ACTIONS_MAX },
      });
    },
    run: concurrentBatch((name, argument) => pool.execute(argument, name)),
    close: () => pool.destroy(),
  };
};

export const poolStrategies: Record<string, Strategy> = {
  piscina: piscina(() => ({})),
  "piscina-tuned": piscina(tunedOptions),
  tinypool,
  workerpool,
  poolifier,
};
