// SPDX-License-Identifier: MIT OR Apache-2.0
// Clearway's stream: an async generator in the worker, with back-pressure by credit.
import { pool } from "clearway";
import { workerUrl } from "#lab-host";
import type { Mechanism } from "../protocol/measured.js";
import { openChain } from "./chains.js";
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

// Chained hops behind Clearway's stream from a worker: the stream alone, and the stream with a direct call and a queue behind it.

function stream(hopsBehind: number): Mechanism {
  return pushMechanism(async () => {
    const workers = pool<typeof import("../work/push-tasks.js")>(workerUrl("push-tasks"), { size: 1 });
    return {
      run: async (load, receiver) => {
        const chain = openChain(hopsBehind, receiver.receive, load.count);
        for await (const event of workers.call.events(load, receiver.sent)) chain.send(event);
        await chain.close();
      },
      close: () => workers.close(),
    };
  });
}

export const chainsClearway: Record<string, Mechanism> = {
  "clearway-one-hop": stream(0),
  "clearway-three-hops": stream(2),
};
