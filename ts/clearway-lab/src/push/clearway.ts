// SPDX-License-Identifier: MIT OR Apache-2.0
// Clearway's stream: an async generator in the worker, with credit.
import { pool } from "clearway";
import { workerUrl } from "#lab-host";
import type { Mechanism } from "../mechanism/measured.js";
import { pushMechanism } from "./measure.js";

export const streamClearway: Record<string, Mechanism> = {
  "clearway-stream": pushMechanism(async () => {
    const workers = pool<typeof import("../work/push-tasks.js")>(workerUrl("push-tasks"), { size: 1 });
    return {
      run: async (load, receiver) => {
        for await (const event of workers.call.events(load, receiver.sent)) receiver.receive(event);
      },
      close: () => workers.close(),
    };
  }),
};
