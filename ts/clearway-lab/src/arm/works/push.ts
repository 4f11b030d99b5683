// SPDX-License-Identifier: MIT OR Apache-2.0
// Events from a worker to the main thread: at 1000 a second, where each cost is an event's delay, and as fast as they go.

import { openStream } from "../../push/clearway.js";
import { type PushConnection, Receiver } from "../../push/measure.js";
import { openPostMessage } from "../../push/other-thread.js";
import type { OpenArm, Work } from "../work.js";

/** A paced run is as long as the slice that needs it: 50 events are 50 ms. */
const PACED = { count: 50, perSecond: 1000, payloadBytes: 8 };
/** A slice takes a sixth of a second. */
const FRAMES = { count: 10, perSecond: 60, payloadBytes: 8 };
const FIREHOSE = { count: 10_000, perSecond: 0, payloadBytes: 8 };
/** Time after which events count as lost, in milliseconds. */
const LOST_AFTER_MS = 10_000;

type Load = typeof PACED;

async function sent(connection: PushConnection, load: Load): Promise<Receiver> {
  const receiver = new Receiver(load);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const lost = new Promise<never>((_, fail) => {
    timer = setTimeout(
      () => fail(new Error(`events were lost: received=${receiver.received} of ${load.count}`)),
      LOST_AFTER_MS,
    );
  });
  await Promise.race([Promise.all([connection.run(load, receiver), receiver.done]), lost]).finally(() =>
    clearTimeout(timer),
  );
  if (receiver.outOfOrder > 0) throw new Error(`events came out of order: outOfOrder=${receiver.outOfOrder}`);
  return receiver;
}

function works(connection: PushConnection): Record<string, Work> {
  const paced = (load: Load): Work => ({
    calls: load.count,
    async run(costsNs) {
      for (const ns of (await sent(connection, load)).latencyNs) costsNs.push(ns);
    },
  });
  return {
    stream: paced(PACED),
    "stream-60": paced(FRAMES),
    firehose: {
      calls: FIREHOSE.count,
      async run(costsNs) {
        const { firstMs, lastMs } = await sent(connection, FIREHOSE);
        costsNs.push(((lastMs - firstMs) * 1e6) / FIREHOSE.count);
      },
    },
  };
}

const arm =
  (open: () => Promise<PushConnection>): OpenArm =>
  async () => {
    const connection = await open();
    return { works: works(connection), close: () => connection.close() };
  };

export const clearway: OpenArm = arm(openStream);
export const clearwayPort: OpenArm = arm(() => openStream("port"));
export const bare: OpenArm = arm(openPostMessage);
