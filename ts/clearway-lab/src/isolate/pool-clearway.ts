// SPDX-License-Identifier: MIT OR Apache-2.0
import { pool } from "clearway";
import { hostName, workerUrl } from "#lab-host";
import type { Mechanism } from "../protocol/measured.js";
import { type PoolUnderTest, poolMechanism } from "./pool.js";

export async function openClearway(carrier: "auto" | "port"): Promise<PoolUnderTest> {
  const name = hostName === "node" ? "pool-tasks-node" : "pool-tasks-browser";
  const make = () => pool<typeof import("../work/pool-tasks-node.js")>(workerUrl(name), { size: 1, carrier });
  let workers: ReturnType<typeof make>;
  return {
    start: () => {
      workers = make();
    },
    call: (task) => (task.connection === "held" ? workers.call.askHeld(task) : workers.call.run(task)),
    close: () => workers.close(),
  };
}

export const poolsClearway: Record<string, Mechanism> = {
  clearway: poolMechanism(() => openClearway("auto")),
  "clearway-port": poolMechanism(() => openClearway("port")),
};
