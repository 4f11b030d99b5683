// SPDX-License-Identifier: MIT OR Apache-2.0
// Clearway's stream: an async generator in the worker, with back-pressure by credit.
import { pool } from "clearway";
import { workerUrl } from "#lab-host";
import type { Mechanism } from "../protocol/measured.js";
import { type PushConnection, pushMechanism } from "./measure.js";

/** Opens a stream. `port` sends messages only; `auto` lets the pool choose between messages and a ring of shared memory. */
export async function openStream(carrier: "auto" | "port" = "auto"): Promise<PushConnection> {
  const workers = pool<typeof import("../work/push-tasks.js")>(workerUrl("push-tasks"), { size: 1, carrier });
  return {
    run: async (load, receiver) => {
      for await (const event of workers.call.events(load, receiver.sent)) receiver.receive(event);
    },
    close: () => workers.close(),
  };
}

export const streamClearway: Record<string, Mechanism> = {
  "clearway-stream": pushMechanism(() => openStream("port")),
  "clearway-ring": pushMechanism(() => openStream("auto")),
};
