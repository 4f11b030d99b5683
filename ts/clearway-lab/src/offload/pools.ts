// SPDX-License-Identifier: MIT OR Apache-2.0
// Pools from npm, used as in their documentation. The scenario files describe the settings.
import { workerUrl } from "#lab-host";
import type { Argument } from "./action.js";
import { batched } from "./batched.js";
import { CORES, type Strategy, WAITING_AT_ONCE, WAITING_THREADS, type Waits } from "./strategy.js";

function piscina(options: (waits: Waits) => object): Strategy {
  return async (waits) => {
    const { Piscina } = await import("piscina");
    let pool: InstanceType<typeof Piscina>;
    return {
      start: () => {
        pool = new Piscina({ filename: workerUrl("offload-function").href, ...options(waits) });
      },
      run: batched((name, argument) => pool.run(argument, { name }) as Promise<number>),
      close: () => pool.destroy(),
    };
  };
}

/** Uses a fixed number of threads, so that no thread starts during a batch or ends between two batches. */
const tuned = (waits: Waits): object => {
  const threads = waits === "blocking" ? WAITING_THREADS : CORES;
  const atOnce = waits === "async" ? { concurrentTasksPerWorker: WAITING_AT_ONCE } : {};
  return { minThreads: threads, maxThreads: threads, ...atOnce };
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
        ...(waits === "async" ? { concurrentTasksPerWorker: WAITING_AT_ONCE } : {}),
      });
    },
    run: batched((name, argument) => pool.run(argument, { name }) as Promise<number>),
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
    run: batched(async (name, argument) => (await pool.exec(name, [argument])) as number),
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
        tasksQueueOptions: { concurrency: WAITING_AT_ONCE },
      });
    },
    run: batched((name, argument) => pool.execute(argument, name)),
    close: () => pool.destroy(),
  };
};

export const pools: Record<string, Strategy> = {
  piscina: piscina(() => ({})),
  "piscina-tuned": piscina(tuned),
  tinypool,
  workerpool,
  poolifier,
};
