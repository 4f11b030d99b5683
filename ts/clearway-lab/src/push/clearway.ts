// SPDX-License-Identifier: MIT OR Apache-2.0
// Clearway's stream: an async generator in the worker, with back-pressure by credit.
import { pool } from "clearway";
import { workerUrl } from "#lab-host";
import type { Mechanism } from "../protocol/measured.js";
import { pushMechanism } from "./measure.js";

/** Makes the mechanism. `port` sends messages only; `auto` sends small events through a ring of shared memory. */
const streamMechanism = (carrier: "auto" | "port"): Mechanism =>
  pushMechanism(async () => {
    const workers = pool<typeof import("../work/push-tasks.js")>(workerUrl("push-tasks"), { size: 1, carrier });
    return {
      run: async (load, receiver) => {
        for await (const event of workers.call.events(load, receiver.sent)) receiver.receive(event);
      },
      close: () => workers.close(),
    };
  });

export const streamClearway: Record<string, Mechanism> = {
  "clearway-stream": streamMechanism("port"),
  "clearway-ring": streamMechanism("auto"),
};
