// SPDX-License-Identifier: MIT OR Apache-2.0
// The pool of the package workerpool, which runs in Node and in browsers.
import workerpool from "workerpool";
import { hostName, workerUrl } from "#lab-host";
import type { Mechanism } from "../protocol/measured.js";
import { type PoolUnderTest, poolMechanism } from "./pool.js";

async function open(): Promise<PoolUnderTest> {
  let pool: ReturnType<typeof workerpool.pool>;
  const url = workerUrl("pool-workerpool");
  return {
    start: () => {
      pool = workerpool.pool(
        hostName === "node" ? decodeURIComponent(url.pathname) : url.href,
        hostName === "node"
          ? { maxWorkers: 1, minWorkers: 1, workerType: "thread" }
          : { maxWorkers: 1, minWorkers: 1, workerType: "web", workerOpts: { type: "module" } },
      );
    },
    call: async (task) => (await pool.exec("run", [task])) as number,
    close: async () => {
      await pool.terminate(true);
    },
  };
}

export const workerpools: Record<string, Mechanism> = { workerpool: poolMechanism(open) };
