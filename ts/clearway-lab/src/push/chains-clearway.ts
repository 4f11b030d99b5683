// SPDX-License-Identifier: MIT OR Apache-2.0
// Chained hops behind Clearway's stream from a worker: the stream alone, and the stream with a direct call and a queue behind it.
import { pool } from "clearway";
import { workerUrl } from "#lab-host";
import type { Mechanism } from "../protocol/measured.js";
import { openChain } from "./chains.js";
import { pushMechanism } from "./measure.js";

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
