// SPDX-License-Identifier: MIT OR Apache-2.0
import { pool } from "clearway";
import { workerUrl } from "#lab-host";
import type { Mechanism } from "../protocol/measured.js";
import { type PoolUnderTest, poolMechanism } from "./pool.js";

export async function openClearway(carrier: "auto" | "port"): Promise<PoolUnderTest> {
  const make = () => pool<typeof import("../work/pool-tasks.js")>(workerUrl("pool-tasks"), { size: 1, carrier });
  let workers: ReturnType<typeof make>;
  return {
    start: () => {
      workers = make();
    },
    call: (task) => workers.call.run(task),
    close: () => workers.close(),
  };
}

export const poolsClearway: Record<string, Mechanism> = {
  clearway: poolMechanism(() => openClearway("auto")),
  "clearway-port": poolMechanism(() => openClearway("port")),
};
